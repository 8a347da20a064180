import type { Token } from 'marked';
import { foldLine } from './text-chunks.ts';

/** A paragraph longer than this is laid out in pieces: a browser lays out a whole paragraph with each change of it. */
export const LONG_PARAGRAPH = 8_000;
/** At least so many characters are one piece. */
const PIECE_CHARS = 2_000;

/** The inline tokens of a long paragraph in pieces, which end at a word where there is one. While it grows only the last one changes. */
export function toPieces(tokens: readonly Token[]): Token[][] {
  const pieces: Token[][] = [];
  let piece: Token[] = [];
  let chars = 0;
  for (const token of tokens.flatMap(cutText)) {
    piece.push(token);
    chars += token.raw.length;
    if (chars < PIECE_CHARS) continue;
    pieces.push(piece);
    piece = [];
    chars = 0;
  }
  return piece.length === 0 ? pieces : [...pieces, piece];
}

/** Plain text may be cut anywhere; what has marks around it stays whole. */
function cutText(token: Token): Token[] {
  if (token.type !== 'text' || token.tokens || token.raw.length <= PIECE_CHARS) return [token];
  const words = String(token.text).match(/\S+\s*|\s+/g) ?? [];
  const cuts: string[] = [];
  let cut = '';
  for (const word of words.flatMap(foldLine)) {
    cut += word;
    if (cut.length < PIECE_CHARS) continue;
    cuts.push(cut);
    cut = '';
  }
  return [...cuts, ...(cut === '' ? [] : [cut])].map((text) => ({ ...token, raw: text, text }));
}
