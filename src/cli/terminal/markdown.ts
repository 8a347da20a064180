import type { MarkedToken, Token, Tokens } from 'marked';
import { BoundedLexer } from '../../markdown/bounded-lexer.ts';
import { toDiffLines } from './diff-lines.ts';
import { toInline, toInlineText } from './markdown-inline.ts';
import { toTableLines } from './markdown-table.ts';
import { toSafeText } from './safe-text.ts';
import type { Sheet } from './sheet.ts';
import { cutToRow, wrapWords } from './wrap.ts';

/** A part of a text that no longer changes once another part follows. */
export interface Piece {
  lines: string[];
  /** A blank line comes before it, unless it is the first. */
  apart: boolean;
}

/** The block tokens of a text that draw something, each with its position. */
export function lexBlocks(text: string): { token: MarkedToken; at: number }[] {
  const blocks: { token: MarkedToken; at: number }[] = [];
  let at = 0;
  for (const token of new BoundedLexer().lex(text)) {
    if (isDrawn(token)) blocks.push({ token, at });
    at += token.raw.length;
  }
  return blocks;
}

/** A whole text as lines for the terminal. */
export function toMarkdownLines(text: string, sheet: Sheet): string[] {
  const pieces = lexBlocks(toSafeText(text)).flatMap(({ token }) => toPieces(token, sheet));
  return pieces.flatMap(({ lines, apart }, index) => (apart && index > 0 ? ['', ...lines] : lines));
}

/** A list becomes a piece per item and code one per line, so that long ones are shown before they are complete. */
export function toPieces(token: MarkedToken, sheet: Sheet): Piece[] {
  switch (token.type) {
    case 'list':
      return token.items.map((_item, index) => ({ lines: toItemLines(token, index, sheet), apart: index === 0 }));
    case 'code':
      return toCodeLines(token, sheet).map((line, index) => ({ lines: [line], apart: index === 0 }));
    default:
      return [{ lines: toBlockLines(token, sheet), apart: true }];
  }
}

/** Longer lines of prose are hard to read. */
const PROSE_COLUMNS = 100;

function toBlockLines(token: MarkedToken, sheet: Sheet): string[] {
  const { paint, columns } = sheet;
  const width = Math.min(columns, PROSE_COLUMNS);
  switch (token.type) {
    case 'heading':
      return wrapWords(paint(token.depth === 1 ? ['bold', 'underline'] : 'bold', toInlineText(token.tokens)), width);
    case 'paragraph':
    case 'text':
      return wrapWords(toInline(token.tokens ?? [token], paint), width);
    case 'blockquote':
      return toLines(token.tokens, { paint, columns: columns - 2 }).map((line) => `${paint('dim', '│')} ${line}`);
    case 'table':
      return toTableLines(token, sheet);
    case 'hr':
      return [paint('dim', '─'.repeat(Math.min(width, 40)))];
    case 'html':
      return wrapWords(token.text.trimEnd(), width); // HTML from a model is shown as text
    case 'list':
    case 'code':
      return toPieces(token, sheet).flatMap(({ lines }) => lines);
    default:
      return [];
  }
}

/** The blocks inside another one. */
function toLines(tokens: readonly Token[], sheet: Sheet): string[] {
  return tokens
    .filter(isDrawn)
    .flatMap((token, index) => [...(index > 0 && isApart(token) ? [''] : []), ...toBlockLines(token, sheet)]);
}

const isApart = ({ type }: MarkedToken) => type !== 'list' && type !== 'text';

function toItemLines(list: Tokens.List, index: number, { paint, columns }: Sheet): string[] {
  const item = list.items[index];
  const number = typeof list.start === 'number' ? list.start + index : undefined;
  const bullet = list.ordered && number !== undefined ? `${number}.` : '•';
  const box = item?.task ? (item.checked ? '☑ ' : '☐ ') : '';
  const indent = ' '.repeat(bullet.length + 1);
  const lines = toLines(item?.tokens ?? [], { paint, columns: columns - indent.length });
  const [first = '', ...rest] = lines;
  return [`${paint('cyan', bullet)} ${box}${first}`, ...rest.map((line) => (line === '' ? '' : `${indent}${line}`))];
}

/** Keeps the lines of code unchanged, so that they can be copied; the terminal wraps long ones. */
function toCodeLines({ text, lang }: Tokens.Code, { paint, columns }: Sheet): string[] {
  const language = lang?.split(/\s/)[0] ?? '';
  const code = text === '' ? [] : text.split('\n');
  const lines =
    language === 'diff' || language === 'patch' ? toDiffLines(text, paint) : code.map((line) => paint('yellow', line));
  const title = language === '' ? [] : [cutToRow(paint('dim', `  ${language}`), columns)];
  return [...title, ...lines.map((line) => `  ${line}`)];
}

// Other tokens come only from extensions, and none are used.
const isDrawn = (token: Token): token is MarkedToken =>
  token.type !== 'space' && token.type !== 'def' && token.type !== 'checkbox';
