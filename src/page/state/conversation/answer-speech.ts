import { type AnswerBlock, type Block, isStored } from './blocks.ts';
import { nextSpoken } from './spoken.ts';

/** How far answers have been read aloud: the key of the last answer, and the offset in its text. */
export interface Told {
  key: string | undefined;
  upTo: number;
}

/** Treats existing answers as already read aloud. */
export const toldSoFar = (blocks: readonly Block[]): Told => {
  const last = blocks.findLast(isAnswer);
  return { key: last?.key, upTo: last?.text.length ?? 0 };
};

/** The newly finished sentences: at most one line per answer and call. */
export function tellMore(blocks: readonly Block[], before: Told): { told: Told; lines: string[] } {
  const at = before.key === undefined ? -1 : blocks.findIndex(({ key }) => key === before.key);
  if (before.key !== undefined && at < 0) return { told: toldSoFar(blocks), lines: [] }; // reloaded or cleared
  let told = before;
  const lines: string[] = [];
  for (const answer of blocks.slice(Math.max(0, at)).filter(isAnswer)) {
    if (answer.key !== before.key && isStored(answer)) continue;
    const from = answer.key === before.key ? before.upTo : 0;
    const { text, upTo } = nextSpoken(answer.text, from, !answer.streaming);
    if (text !== '') lines.push(text);
    told = { key: answer.key, upTo };
  }
  return { told, lines };
}

const isAnswer = (block: Block): block is AnswerBlock => block.kind === 'answer';
