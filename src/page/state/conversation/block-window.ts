import type { Block } from './blocks.ts';

/** Neighbouring blocks: indices, the last one not included. */
export interface Span {
  first: number;
  last: number;
}

/** So many blocks are in the document at most; a block is one message, or two for a call with its result. */
export const MAX_BLOCKS = 100;
/** What is drawn anew in one go, in characters: more would keep a person waiting. */
const STEP_CHARS = 6_000;
/** An empty block is not free either. */
const BLOCK_CHARS = 1_000;

/** Where each block begins, and after the last one where the end is, in pixels. */
export function toTops(blocks: readonly Block[], measured: ReadonlyMap<string, number>): readonly number[] {
  const tops = [0];
  let top = 0;
  for (const block of blocks) {
    top += measured.get(block.key) ?? estimateHeight(block);
    tops.push(top);
  }
  return tops;
}

/** The blocks that lie in a stretch of pixels, at least one of them where there are any. */
export function spanAt(tops: readonly number[], from: number, to: number): Span {
  const count = tops.length - 1;
  const first = Math.min(Math.max(0, count - 1), Math.max(0, firstBeyond(tops, from) - 1));
  const last = Math.min(count, Math.max(firstBeyond(tops, to), first + 1));
  return { first, last };
}

/**
 * The blocks to have in the document next: all visible ones, and as many more towards the wanted ones as can be drawn at
 * once. What is drawn already stays while it is within the wanted ones.
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
  let budget = isNear ? STEP_CHARS : 0; // after a leap what is on the screen is enough to draw at once
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

/** How much of a block there is to draw. */
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
    case undefined:
      return 0;
  }
}

/** At most MAX_BLOCKS of the wanted ones, the visible ones in their middle. */
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

/** For blocks that were never drawn; it only has to be near enough for the scroll bar. A block never changes. */
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
      return 28;
  }
}

/** Of long texts only the beginning is counted, and the rest by its length. */
function linesOf(text: string, width: number): number {
  const counted = text.slice(0, 2_000);
  const lines = counted.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0);
  return counted.length === 0 ? 0 : lines * (text.length / counted.length);
}
