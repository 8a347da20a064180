import type { MarkedToken, Token, Tokens } from 'marked';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import { BoundedLexer } from '../../../markdown/bounded-lexer.ts';
import { toTableText } from './markdown-table-text.ts';
import { type FormattedText, type Mark, type Piece, toPlain } from './pieces.ts';

type Marks = readonly Mark[];

/** Markdown as text with formatting. HTML is shown as text. */
export function toFormattedText(markdown: string): FormattedText {
  const source = markdown.toWellFormed().replaceAll('\0', '');
  const pieces: Piece[] = [];
  const blocks: number[] = [];
  let length = 0;
  let isAfterHeading = false;
  for (const token of lex(source)) {
    const found = toBlock(token, []).filter(({ text }) => text !== '');
    if (found.length === 0) continue;
    if (pieces.length > 0) length += pieces[pieces.push({ text: GAP, marks: [] }) - 1]?.text.length ?? 0;
    if (!isAfterHeading) blocks.push(length); // a heading stays with what it announces
    // One by one: a paragraph may have more pieces than a call may have arguments.
    for (const piece of found) {
      pieces.push(piece);
      length += piece.text.length;
    }
    isAfterHeading = token.type === 'heading';
  }
  return { pieces, blocks };
}

const GAP = '\n\n';

/** Text that is nested too deeply to be read is shown as it is. */
function lex(source: string): Token[] {
  try {
    return new BoundedLexer().lex(source);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ type: 'escape', raw: source, text: source }];
  }
}

function toBlock(given: Token, marks: Marks): Piece[] {
  const token = toKnown(given);
  switch (token.type) {
    case 'heading':
      return toInline(token.tokens, withMark(marks, { kind: 'bold' }));
    case 'code':
      return toCode(token, marks);
    case 'blockquote':
      return joined(token.tokens, { marks: withMark(marks, { kind: 'quote' }), gap: GAP });
    case 'list':
      return toList(token, marks);
    case 'table':
      return [{ text: toTableText(token, toCellText), marks: [...marks, { kind: 'block', language: '' }] }];
    case 'hr':
      return [{ text: '──────────', marks }];
    case 'html':
      return [{ text: token.text.trimEnd(), marks }];
    case 'space':
    case 'def':
      return [];
    default:
      return 'tokens' in token && token.tokens ? toInline(token.tokens, marks) : toInline([token], marks);
  }
}

/** The lexer has no extensions, so it makes no other tokens. */
const isKnown = (token: Token): token is MarkedToken => token.type !== '';
const toKnown = (token: Token): MarkedToken => (isKnown(token) ? token : { type: 'escape', raw: '', text: '' });

const toCellText = (tokens: readonly Token[]): string => toPlain(toInline(tokens, [])).replaceAll('\n', ' ');

/** Nothing else can be formatted in code, except that a quote may surround it. */
function toCode({ text, lang = '' }: Tokens.Code, marks: Marks): Piece[] {
  const language = /^[\w+#.-]+/.exec(lang)?.[0] ?? '';
  return [{ text: trimEndOf(text, '\n'), marks: [...onlyQuote(marks), { kind: 'block', language }] }];
}

const onlyQuote = (marks: Marks): Marks => marks.filter(({ kind }) => kind === 'quote');

/** Blocks inside another one, apart from each other. */
function joined(tokens: readonly Token[], { marks, gap }: { marks: Marks; gap: string }): Piece[] {
  const blocks = tokens
    .map((token) => toBlock(token, marks))
    .filter((pieces) => pieces.some(({ text }) => text !== ''));
  return blocks.flatMap((pieces, index) => (index === 0 ? pieces : [{ text: gap, marks }, ...pieces]));
}

function toList(list: Tokens.List, marks: Marks): Piece[] {
  const start = Number(list.start) || 0;
  const gap = list.loose ? GAP : '\n';
  return list.items.flatMap((item, index) => {
    const bullet = list.ordered ? `${start + index}.` : '•';
    const box = item.task ? ` ${item.checked ? '☑' : '☐'}` : '';
    const content = item.tokens.filter(({ type }) => type !== 'checkbox');
    const inner = indented(joined(content, { marks, gap: item.loose ? GAP : '\n' }));
    return [{ text: `${index === 0 ? '' : gap}${bullet}${box} `, marks }, ...inner];
  });
}

/** Further lines of an item stand below its first, except in code, where a space would count. */
const indented = (pieces: readonly Piece[]): Piece[] =>
  pieces.map((piece) =>
    piece.marks.some(({ kind }) => kind === 'block')
      ? piece
      : { text: piece.text.replaceAll(/\n(?!\n|$)|\n$/g, '\n  '), marks: piece.marks },
  );

function toInline(tokens: readonly Token[], marks: Marks): Piece[] {
  return tokens.flatMap((token) => toStyled(toKnown(token), marks));
}

function toStyled(token: MarkedToken, marks: Marks): Piece[] {
  switch (token.type) {
    case 'strong':
      return toInline(token.tokens, withMark(marks, { kind: 'bold' }));
    case 'em':
      return toInline(token.tokens, withMark(marks, { kind: 'italic' }));
    case 'del':
      return toInline(token.tokens, withMark(marks, { kind: 'strike' }));
    case 'codespan':
      return [{ text: token.text, marks: toCodeMarks(marks) }];
    case 'link':
      return toLink(token, marks);
    case 'image':
      return toLink({ ...token, tokens: [{ type: 'text', raw: token.text, text: token.text || 'image' }] }, marks);
    case 'br':
      return [{ text: '\n', marks }];
    case 'escape':
      return [{ text: token.text, marks }];
    case 'text':
      return token.tokens ? toInline(token.tokens, marks) : [{ text: decoded(token.text), marks }];
    default:
      return [{ text: token.raw, marks }];
  }
}

/** A link stays one, because its address matters more than the look of its text. */
const toCodeMarks = (marks: Marks): Marks =>
  marks.some(({ kind }) => kind === 'link') ? marks : [...onlyQuote(marks), { kind: 'code' }];

function toLink({ href, tokens }: { href: string; tokens: readonly Token[] }, marks: Marks): Piece[] {
  const address = decoded(href);
  if (isLinkable(address)) return toInline(tokens, withMark(marks, { kind: 'link', href: address }));
  const shown = toInline(tokens, marks);
  return toPlain(shown) === address ? shown : [...shown, { text: ` (${address})`, marks }];
}

/** Longer addresses are not clickable in chats. */
const MAX_HREF = 2_000;
const isLinkable = (href: string): boolean =>
  href.length <= MAX_HREF && /^(?:https?:\/\/|tg:\/\/|mailto:)[^\s<>"\p{Cc}]+$/iu.test(href);

/** Marks are not repeated inside themselves. */
const withMark = (marks: Marks, mark: Mark): Marks =>
  marks.some(({ kind }) => kind === mark.kind) ? marks : [...marks, mark];

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Character references, as Markdown has them. */
const decoded = (text: string): string =>
  text.replaceAll(/&(?:#\d{1,7}|#x[\da-f]{1,6}|\w+);/gi, (all) => {
    const name = all.slice(1, -1);
    if (!name.startsWith('#')) return NAMED[name] ?? all;
    const code = Number(name.replace('#', '').replace(/^x/i, '0x'));
    const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isText ? String.fromCodePoint(code) : all;
  });
