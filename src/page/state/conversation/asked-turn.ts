import type { Block, UserBlock } from './blocks.ts';

/** The place of a message of the person among the others. */
export interface AskedTurn {
  /** Its number. */
  seq: number;
  /** The last message of its turn; undefined if no later message of the person is shown. */
  endSeq: number | undefined;
  /** The daemon can answer it again. */
  isLast: boolean;
}

/** Undefined for blocks that nothing can be done with: others, and those from events of older builds. */
export function findTurn(blocks: readonly Block[], block: Block): AskedTurn | undefined {
  if (!isAsked(block) || block.seq === undefined) return undefined;
  const next = blocks.slice(blocks.indexOf(block) + 1).find(isAsked);
  return { seq: block.seq, endSeq: next?.seq === undefined ? undefined : next.seq - 1, isLast: next === undefined };
}

/** The whole answer to a message, as Markdown: what the model said up to the next message of the person. */
export function toAnswerText(blocks: readonly Block[], asked: Block): string {
  const after = blocks.slice(blocks.indexOf(asked) + 1);
  const end = after.findIndex(isAsked);
  const said = end < 0 ? after : after.slice(0, end);
  return said.flatMap((block) => (block.kind === 'answer' && block.text !== '' ? [block.text] : [])).join('\n\n');
}

const isAsked = (block: Block): block is UserBlock => block.kind === 'user';
