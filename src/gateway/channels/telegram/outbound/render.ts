import type { RenderedChunk } from '../../ledger/chunk-rows.ts';
import { cutText } from '../../text/cut-text.ts';
import { toFormattedText } from '../../text/markdown-pieces.ts';
import { type Mark, type Markup, type Piece, toPlain, writePieces } from '../../text/pieces.ts';

/** UTF-16 units of a message, without mark-up. */
const MAX_UNITS = 4_096;
/** Telegram ignores the formatting after so many. */
const MAX_ENTITIES = 100;

/**
 * Markdown as messages for Telegram, none for an empty text. Each is complete: formatting that is cut ends with one message
 * and begins again in the next.
 */
export const render = (markdown: string): RenderedChunk[] =>
  cutText(toFormattedText(markdown), { most: MAX_UNITS, fits }).map((pieces) => ({
    formatted: writePieces(pieces, HTML),
    plain: toPlain(pieces),
  }));

function fits(pieces: readonly Piece[]): boolean {
  if (toPlain(pieces).length > MAX_UNITS) return false;
  return new Set(pieces.flatMap(({ marks }) => marks)).size <= MAX_ENTITIES;
}

const TAGS = { bold: 'b', italic: 'i', strike: 's', code: 'code', quote: 'blockquote' } as const;

const HTML: Markup = {
  open(mark: Mark) {
    if (mark.kind === 'link') return `<a href="${escaped(mark.href)}">`;
    if (mark.kind !== 'block') return `<${TAGS[mark.kind]}>`;
    return mark.language === '' ? '<pre>' : `<pre><code class="language-${escaped(mark.language)}">`;
  },
  close(mark: Mark) {
    if (mark.kind === 'link') return '</a>';
    if (mark.kind !== 'block') return `</${TAGS[mark.kind]}>`;
    return mark.language === '' ? '</pre>' : '</code></pre>';
  },
  text: ({ text }) => escaped(text),
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
