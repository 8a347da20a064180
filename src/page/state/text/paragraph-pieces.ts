import type { Token } from 'marked';
import { foldLine } from './text-chunks.ts';

/** A longer paragraph is split into pieces, because browsers lay out a whole paragraph at each change. */
export const LONG_PARAGRAPH = 8_000;
/** Minimum length of a piece in characters. */
const PIECE_CHARS = 2_000;
/** How much longer a piece gets until a sentence or a line ends. */
const REST_CHARS = 500;
const ENDS = /[.!?…]["'”’)\]]*\s+$|\n$/;

/**
 * Splits the inline tokens of a long paragraph into pieces, each on lines of its own: at the end of a sentence or a line
 * if there is one soon, otherwise at a word if possible. While it grows, only the last piece changes.
 */
export function toPieces(tokens: readonly Token[]): Token[][] {
  const pieces: Token[][] = [];
  let piece: Token[] = [];
  let chars = 0;
  for (const token of tokens) {
    const parts = cutText(token, chars);
    for (const [index, part] of parts.entries()) {
      piece.push(part);
      chars += part.raw.length;
      if (index === parts.length - 1 && !isEnough(chars, ENDS.test(part.raw))) continue;
      pieces.push(piece);
      piece = [];
      chars = 0;
    }
  }
  return piece.length === 0 ? pieces : [...pieces, piece];
}

/** Only plain text is cut; formatted text stays whole. `before` it, the piece has so many characters. */
function cutText(token: Token, before: number): Token[] {
  if (token.type !== 'text' || token.tokens || before + token.raw.length <= PIECE_CHARS) return [token];
  const words = String(token.text).match(/\S+\s*|\s+/g) ?? [];
  const cuts: string[] = [];
  let cut = '';
  let chars = before;
  for (const word of words.flatMap(foldLine)) {
    cut += word;
    chars += word.length;
    const isPartOfWord = /\S$/.test(word);
    if (!isEnough(chars, isPartOfWord || ENDS.test(word))) continue;
    cuts.push(cut);
    cut = '';
    chars = 0;
  }
  return [...cuts, ...(cut === '' ? [] : [cut])].map((text) => ({ ...token, raw: text, text }));
}

const isEnough = (chars: number, isEnd: boolean): boolean => chars >= PIECE_CHARS + (isEnd ? 0 : REST_CHARS);
