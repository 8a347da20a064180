import type { Block } from '../conversation/blocks.ts';

/** Where a person wants to read: a block, a stored message, or a message of a person before, after or last. */
export type Goal = { key: string } | { seq: number } | { asked: 'before' | 'after' | 'last' };

interface Here {
  /** Index of the block that is read now. */
  at: number;
  /** Older messages exist that are not loaded. */
  truncated: boolean;
}

/** The block to show; `earlier` if it is among the messages that are not loaded; undefined if there is none. */
export function findGoal(blocks: readonly Block[], goal: Goal, { at, truncated }: Here): Block | 'earlier' | undefined {
  const older = truncated ? 'earlier' : undefined;
  if ('key' in goal) return blocks.find(({ key }) => key === goal.key);
  if ('seq' in goal) return blocks.findLast((block) => (seqOf(block) ?? Number.POSITIVE_INFINITY) <= goal.seq) ?? older;
  switch (goal.asked) {
    case 'last':
      return blocks.findLast(isAsked) ?? older;
    case 'before':
      return blocks.slice(0, Math.max(0, at)).findLast(isAsked) ?? older;
    case 'after':
      return blocks.slice(at + 1).find(isAsked);
  }
}

/** The number of the stored message that a block shows; blocks of events have none, except for messages of a person. */
function seqOf(block: Block): number | undefined {
  if (block.kind === 'user' && block.seq !== undefined) return block.seq;
  const [, seq] = /^h(\d+)/.exec(block.key) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

const isAsked = ({ kind }: Block) => kind === 'user';
