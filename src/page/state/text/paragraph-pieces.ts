import type { Token } from 'marked';
import { foldLine } from './text-chunks.ts';

/** A longer paragraph is split into pieces, because browsers lay out a whole paragraph at each change. */
export const LONG_PARAGRAPH = 8_000;
/** Minimum length of a piece in characters. */
const PIECE_CHARS = 2_000;

/**
 * Splits the inline tokens of a long paragraph into pieces, at words if possible. While it grows, only the last piece
 * changes.
 */
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

/** Only plain text is cut; formatted text stays whole. */
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
