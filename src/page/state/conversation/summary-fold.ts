import type { Block, SummaryBlock } from './blocks.ts';

/** The latest summary, and the blocks that it stands for: those before the index `end`. */
export interface SummaryFold {
  summary: SummaryBlock;
  end: number;
}

/** Undefined if the conversation was not summarized, or a rewind undid it. A later summary includes the earlier ones. */
export function findSummaryFold(blocks: readonly Block[]): SummaryFold | undefined {
  const summary = blocks.findLast(isSummary);
  return summary && { summary, end: endOf(blocks, summary) };
}

/** The blocks to show: the summary in place of its messages or, while the fold is open, below them. */
export function applyFold(blocks: readonly Block[], fold: SummaryFold | undefined, isOpen: boolean): readonly Block[] {
  if (!fold) return blocks;
  const { summary, end } = fold;
  const isOther = (block: Block) => !isSummary(block);
  return [...(isOpen ? blocks.slice(0, end).filter(isOther) : []), summary, ...blocks.slice(end).filter(isOther)];
}

/** Whole turns only: one that the summary includes in part stays in view. */
function endOf(blocks: readonly Block[], { toSeq }: SummaryBlock): number {
  const next = blocks.findIndex((block) => block.kind === 'user' && block.seq === toSeq + 1);
  if (next >= 0) return next;
  return Math.max(
    0,
    blocks.findLastIndex((block) => block.kind === 'user' && (block.seq ?? toSeq + 1) <= toSeq),
  );
}

const isSummary = (block: Block): block is SummaryBlock => block.kind === 'summary';
