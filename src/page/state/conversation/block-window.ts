import type { Block } from './blocks.ts';

/** A range of blocks by index; `last` is exclusive. */
export interface Span {
  first: number;
  last: number;
}

/** Maximum number of blocks in the document. A block is one message, or a call with its result. */
export const MAX_BLOCKS = 100;
/** Characters drawn in one step; more would cause a noticeable delay. */
export const STEP_CHARS = 6_000;
/** Cost of an empty block, in characters. */
const BLOCK_CHARS = 1_000;

/** The top of each block in pixels, followed by the end of the last one. */
export function toTops(blocks: readonly Block[], measured: ReadonlyMap<string, number>): readonly number[] {
  const tops = [0];
  let top = 0;
  for (const block of blocks) {
    top += measured.get(block.key) ?? estimateHeight(block);
    tops.push(top);
  }
  return tops;
}

/** The blocks in a range of pixels; at least one, if any exist. */
export function spanAt(tops: readonly number[], from: number, to: number): Span {
  const count = tops.length - 1;
  const first = Math.min(Math.max(0, count - 1), Math.max(0, firstBeyond(tops, from) - 1));
  const last = Math.min(count, Math.max(firstBeyond(tops, to), first + 1));
  return { first, last };
}

/**
 * The blocks to draw next: all visible ones, and as many of the wanted ones as one step allows. Drawn blocks stay while
 * they are wanted.
 */
export function stepTowards(
  current: Span,
  { visible, wanted }: { visible: Span; wanted: Span },
  charsOf: (index: number) => number,
): Span {
  const limit = cap(wanted, visible);
  const isNear = current.first <= visible.last && current.last >= visible.first;
  const kept = isNear
    ? { first: Math.max(current.first, limit.first), last: Math.min(current.last, limit.last) }
    : visible;
  let { first, last } = { first: Math.min(kept.first, visible.first), last: Math.max(kept.last, visible.last) };
  let budget = isNear ? STEP_CHARS : 0; // after a leap, draw only the visible blocks at first
  while (budget > 0 && (first > limit.first || last < limit.last)) {
    if (last < limit.last) {
      budget -= charsOf(last) + BLOCK_CHARS;
      last += 1;
    }
    if (first > limit.first) {
      first -= 1;
      budget -= charsOf(first) + BLOCK_CHARS;
    }
  }
  return { first, last };
}

/** The cost of drawing a block, in characters. */
export function charsOfBlock(block: Block | undefined): number {
  switch (block?.kind) {
    case 'user':
    case 'note':
      return block.text.length;
    case 'answer':
      return block.text.length;
    case 'tool':
      return (block.result ?? block.live).length / 4 + block.preview.length;
    case 'approval':
    case 'decision':
    case 'summary':
    case undefined:
      return 0;
  }
}

/** At most MAX_BLOCKS of the wanted blocks, around the visible ones. */
function cap(wanted: Span, visible: Span): Span {
  if (wanted.last - wanted.first <= MAX_BLOCKS) return wanted;
  const spare = MAX_BLOCKS - Math.min(MAX_BLOCKS, visible.last - visible.first);
  const first = Math.max(wanted.first, Math.min(visible.first - Math.floor(spare / 2), wanted.last - MAX_BLOCKS));
  return { first, last: first + MAX_BLOCKS };
}

/** Index of the first top that is greater. */
function firstBeyond(tops: readonly number[], pixels: number): number {
  let low = 0;
  let high = tops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) > pixels) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Estimates for blocks never drawn; the scroll bar needs no exact values. Can be cached, as a block never changes. */
function estimateHeight(block: Block): number {
  const known = estimates.get(block) ?? estimate(block);
  estimates.set(block, known);
  return known;
}

const estimates = new WeakMap<Block, number>();

function estimate(block: Block): number {
  switch (block.kind) {
    case 'user':
      return 60 + linesOf(block.text, 75) * 24;
    case 'answer':
      return 16 + linesOf(block.text, 95) * 25;
    case 'tool':
      return 44 + Math.min(12, linesOf(block.result ?? block.live, 100)) * 19;
    case 'note':
      return 36 + linesOf(block.text, 95) * 21;
    case 'approval':
      return block.decision ? 28 : 240;
    case 'decision':
    case 'summary':
      return 28;
  }
}

/** Counts the lines of the beginning of a long text and estimates the rest by its length. */
function linesOf(text: string, width: number): number {
  const counted = text.slice(0, 2_000);
  const lines = counted.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0);
  return counted.length === 0 ? 0 : lines * (text.length / counted.length);
}
