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

const isAsked = (block: Block): block is UserBlock => block.kind === 'user';
