import type { Token, Tokens } from 'marked';
import { BoundedLexer } from '../../../markdown/bounded-lexer.ts';

/** Text that is ready to be read aloud, and the offset after it. */
export interface Spoken {
  text: string;
  upTo: number;
}

/**
 * The finished sentences, lines and code blocks of a growing Markdown text after `from`, as words. `ended`: the text is
 * complete, so everything counts as finished.
 */
export function nextSpoken(markdown: string, from: number, ended: boolean): Spoken {
  const upTo = ended ? markdown.length : findEnd(markdown, from);
  if (upTo <= from) return { text: '', upTo: from };
  const tokens = new BoundedLexer().lex(markdown.slice(from, upTo));
  const text = tokens.map(toWords).join('\n').replace(LEFTOVERS, '').replace(/\s+/g, ' ').trim();
  return { text, upTo };
}

/** Formatting marks whose other half is in another sentence. */
const LEFTOVERS = /\*\*|__|~~|`+/g;

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)(\n?)/gm;

/** The offset after the last finished sentence or line, and before an unfinished code block. */
function findEnd(markdown: string, from: number): number {
  const open = findOpenFence(markdown, from);
  const prose = markdown.slice(from, open ?? markdown.length);
  const [last] = [...prose.matchAll(/[.!?…。！？]["'”’)\]*_`~]*(?=\s)|\n/g)].slice(-1);
  return last ? from + last.index + last[0].length : from;
}

/** The offset of a code block that is not closed yet. */
function findOpenFence(markdown: string, from: number): number | undefined {
  let open: { at: number; mark: string } | undefined;
  for (const { index, 1: mark = '', 2: rest = '', 3: lineEnd } of markdown.slice(from).matchAll(FENCE)) {
    if (!open) open = { at: from + index, mark };
    else if (mark.startsWith(open.mark) && rest.trim() === '' && lineEnd === '\n') open = undefined;
  }
  return open?.at;
}

function toWords(token: Token): string {
  switch (token.type) {
    case 'code':
      return `Code${token.lang ? ` in ${token.lang}` : ''}, ${countLines(token.text)}.`;
    case 'list':
      return token.items.map(({ tokens }: Tokens.ListItem) => tokens.map(toWords).join(' ')).join('\n');
    case 'table':
      return [token.header, ...token.rows].map(toRow).join('\n');
    case 'checkbox':
      return token.checked ? 'Done: ' : 'To do: ';
    case 'image':
      return `image: ${token.text === '' ? token.href : token.text}`;
    case 'hr':
    case 'def':
    case 'space':
      return '';
    default:
      if ('tokens' in token && token.tokens) return token.tokens.map(toWords).join('');
      // A row is a paragraph here if its table was already read.
      return 'text' in token
        ? String(token.text)
            .replace(/^\||\|$/g, '')
            .replaceAll(/\s{0,9}\|\s{0,9}/g, ', ')
        : token.raw;
  }
}

const toRow = (cells: readonly Tokens.TableCell[]): string =>
  cells.map(({ tokens }) => tokens.map(toWords).join('')).join(', ');

function countLines(text: string): string {
  const lines = text.split('\n').length;
  return `${lines} line${lines === 1 ? '' : 's'}`;
}
