import { type FormattedText, type Piece, slicePieces } from './pieces.ts';

interface CutOptions {
  /** The most characters that could fit. */
  most: number;
  /** Whether a message can hold these pieces. If it can hold some, it can hold fewer. */
  fits(pieces: readonly Piece[]): boolean;
}

/**
 * Cuts a text into messages: between blocks, else between lines, else between words. A block that fits into one message is
 * not cut. Removes the empty space at each cut, but not the indentation of code.
 */
export function cutText({ pieces, blocks }: FormattedText, { most, fits }: CutOptions): Piece[][] {
  const text = pieces.map((piece) => piece.text).join('');
  const chunks: Piece[][] = [];
  let rest = pieces;
  let from = 0;
  const skip = (count: number) => {
    rest = slicePieces(rest, count, Number.POSITIVE_INFINITY);
    from += count;
  };
  for (;;) {
    skip(/^(?:[^\S\n]*\n)*/.exec(text.slice(from))?.[0].length ?? 0);
    if (from >= text.length) return chunks;
    const furthest = furthestThatFits(rest, { most: Math.min(most, text.length - from), fits });
    const length = furthest === text.length - from ? furthest : cutBefore(text, { from, furthest, blocks });
    const chunk = trimEnd(slicePieces(rest, 0, length));
    if (chunk.length > 0) chunks.push(chunk);
    skip(length);
  }
}

/** At least 1, so that the cutting ends. */
function furthestThatFits(pieces: readonly Piece[], { most, fits }: CutOptions): number {
  let low = 1;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(slicePieces(pieces, 0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface Window {
  from: number;
  furthest: number;
  blocks: readonly number[];
}

/** How much of the text is the next message; there is more text than fits. */
function cutBefore(text: string, { from, furthest, blocks }: Window): number {
  const window = text.slice(from, from + furthest + 1); // a cut may be right behind what fits
  const block = (blocks.findLast((at) => at <= from + furthest) ?? from) - from;
  const next = (blocks.find((at) => at > from + furthest) ?? text.length) - from;
  const isBlockWhole = next - block <= furthest;
  if (block > 0 && (isBlockWhole || block >= furthest / 2)) return block;
  const line = window.lastIndexOf('\n');
  if (line >= furthest / 2) return line;
  const space = window.lastIndexOf(' ') + 1; // the space is removed at the end of the message
  const found = [block, line, space].find((at) => at > 0 && at >= furthest / 4) ?? Math.max(block, line, space);
  return found > 0 ? found : wholeCharacters(text, from, furthest);
}

/** One less if the cut would be inside a surrogate pair. */
function wholeCharacters(text: string, from: number, length: number): number {
  const isInside = /[\ud800-\udbff]/.test(text.charAt(from + length - 1));
  if (!isInside) return length;
  return length > 1 ? length - 1 : 2;
}

function trimEnd(pieces: readonly Piece[]): Piece[] {
  const last = pieces.at(-1);
  if (!last) return [];
  const text = last.text.trimEnd();
  const before = pieces.slice(0, -1);
  return text === '' ? trimEnd(before) : [...before, { text, marks: last.marks }];
}
