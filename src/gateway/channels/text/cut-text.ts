import { type FormattedText, type Piece, slicePieces } from './pieces.ts';

interface CutOptions {
  /** The most characters that could fit. */
  most: number;
  /** Whether a message can hold these pieces. If it can hold some, it can hold fewer. */
  fits(pieces: readonly Piece[]): boolean;
}

/**
 * Cuts a text into messages: between blocks, else between lines, else between words. A block that fits into one message is
 * not cut. Removes the empty space at each cut, but not the indentation of code. The work grows with the text alone, not with
 * the number of messages: what was cut off is not looked at again.
 */
export function cutText({ pieces, blocks }: FormattedText, { most, fits }: CutOptions): Piece[][] {
  const text = pieces.map((piece) => piece.text).join('');
  const chunks: Piece[][] = [];
  const rest = new Rest(pieces);
  for (;;) {
    rest.skip(emptyLinesAt(text, rest.from));
    const { from } = rest;
    if (from >= text.length) return chunks;
    const furthest = furthestThatFits(rest, { most: Math.min(most, text.length - from), fits });
    const length = furthest === text.length - from ? furthest : cutBefore(text, { from, furthest, blocks });
    const chunk = trimEnd(rest.first(length));
    if (chunk.length > 0) chunks.push(chunk);
    rest.skip(length);
  }
}

/** The pieces that are not cut off yet. */
class Rest {
  readonly #pieces: readonly Piece[];
  /** The first of them that is left. */
  #index = 0;
  /** How much of it is cut off. */
  #offset = 0;
  /** How much of the whole text is cut off. */
  from = 0;

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  skip(count: number): void {
    this.from += count;
    this.#offset += count;
    for (;;) {
      const length = this.#pieces[this.#index]?.text.length;
      if (length === undefined || length > this.#offset) return;
      this.#offset -= length;
      this.#index += 1;
    }
  }

  /** The next characters. */
  first(count: number): Piece[] {
    let end = this.#index;
    for (let left = count + this.#offset; left > 0 && end < this.#pieces.length; end += 1)
      left -= this.#pieces[end]?.text.length ?? 0;
    return slicePieces(this.#pieces.slice(this.#index, end), this.#offset, this.#offset + count);
  }
}

const EMPTY_LINES = /(?:[^\S\n]*\n)*/y;

function emptyLinesAt(text: string, from: number): number {
  EMPTY_LINES.lastIndex = from;
  return EMPTY_LINES.exec(text)?.[0].length ?? 0;
}

/** Where the search for the furthest place begins: what does not fit is mostly much shorter than what could. */
const FIRST_LOOK = 64;

/** At least 1, so that the cutting ends. */
function furthestThatFits(rest: Rest, { most, fits }: CutOptions): number {
  let low = 1;
  let high = most;
  for (let look = FIRST_LOOK; low < high && look < high; look *= 2) {
    if (fits(rest.first(look))) low = look;
    else high = look - 1;
  }
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(rest.first(middle))) low = middle;
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
  const begun = countUpTo(blocks, from + furthest);
  const block = (blocks[begun - 1] ?? from) - from;
  const next = (blocks[begun] ?? text.length) - from;
  const isBlockWhole = next - block <= furthest;
  if (block > 0 && (isBlockWhole || block >= furthest / 2)) return block;
  const line = window.lastIndexOf('\n');
  if (line >= furthest / 2) return line;
  const space = window.lastIndexOf(' ') + 1; // the space is removed at the end of the message
  const found = [block, line, space].find((at) => at > 0 && at >= furthest / 4) ?? Math.max(block, line, space);
  return found > 0 ? found : wholeCharacters(text, from, furthest);
}

/** How many of these offsets, which ascend, are at most this one. */
function countUpTo(offsets: readonly number[], most: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((offsets[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One less if the cut would be inside a surrogate pair. */
function wholeCharacters(text: string, from: number, length: number): number {
  const isInside = /[\ud800-\udbff]/.test(text.charAt(from + length - 1));
  if (!isInside) return length;
  return length > 1 ? length - 1 : 2;
}

function trimEnd(pieces: readonly Piece[]): Piece[] {
  const last = pieces.findLastIndex(({ text }) => text.trim() !== '');
  const piece = pieces[last];
  return piece ? [...pieces.slice(0, last), { text: piece.text.trimEnd(), marks: piece.marks }] : [];
}
