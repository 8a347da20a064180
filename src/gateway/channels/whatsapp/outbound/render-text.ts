import type { RenderedChunk } from '../../ledger/chunk-rows.ts';
import { cutText } from '../../text/cut-text.ts';
import { toFormattedText } from '../../text/markdown-pieces.ts';
import { type Mark, type Markup, type Piece, textsOfLinks, toPlain, writePieces } from '../../text/pieces.ts';

/** Characters of a text message, with its mark-up. */
const MAX_TEXT = 4_096;
/** Characters of a parameter of a template. */
const MAX_PARAMETER = 1_024;

/** Markdown as messages for WhatsApp, none for an empty text. Formatting that is cut goes on in the next message. */
export const render = (markdown: string): RenderedChunk[] =>
  cutText(toFormattedText(markdown), { most: MAX_TEXT, fits }).map((pieces) => ({
    formatted: write(pieces),
    plain: toPlain(pieces),
  }));

/** The text on one line, because WhatsApp refuses parameters of templates with several; a longer text is cut. */
export function toParameter(markdown: string): string {
  const line = toPlain(toFormattedText(markdown).pieces).replaceAll(/\s+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= MAX_PARAMETER ? line : `${characters.slice(0, MAX_PARAMETER - 1).join('')}…`;
}

const fits = (pieces: readonly Piece[]): boolean => write(pieces).length <= MAX_TEXT;

const write = (pieces: readonly Piece[]): string => writePieces(pieces, markupOf(pieces));

const SIGNS = { bold: '*', italic: '_', strike: '~', code: '`' } as const;

/** WhatsApp has no links with texts, so their addresses follow them. */
function markupOf(pieces: readonly Piece[]): Markup {
  const shown = textsOfLinks(pieces);
  /** The last character that was written; an escaped one is a piece of its own. */
  let before = '';
  return {
    open: (mark) => signOf(mark, 'open'),
    close: (mark) => (mark.kind === 'link' ? addressOf(mark, shown.get(mark)) : signOf(mark, 'close')),
    text(piece) {
      const text = withoutFences(piece, before);
      before = text.at(-1) ?? before;
      return piece.marks.some(({ kind }) => kind === 'quote') ? text.replaceAll('\n', '\n> ') : text;
    },
  };
}

function signOf(mark: Mark, side: 'open' | 'close'): string {
  if (mark.kind === 'link') return '';
  if (mark.kind === 'block') return side === 'open' ? '```\n' : '\n```';
  if (mark.kind === 'quote') return side === 'open' ? '> ' : '';
  return SIGNS[mark.kind];
}

/**
 * The text without what would begin or end code, which WhatsApp cannot escape: the rest would look like words of the bot. In a
 * line of code, backticks become a character that looks like them; elsewhere, a character without width is between them.
 */
function withoutFences({ text, marks }: Piece, before: string): string {
  if (marks.some(({ kind }) => kind === 'code')) return text.replaceAll('`', 'ˋ');
  const apart = text.replaceAll(/`(?=`)/g, '`\u200b');
  return before === '`' && text.startsWith('`') ? `\u200b${apart}` : apart;
}

function addressOf({ href }: { href: string }, text: string | undefined): string {
  const isShown = text !== undefined && (text === href || href.endsWith(`//${text}`) || href === `mailto:${text}`);
  return isShown ? '' : ` (${href})`;
}
