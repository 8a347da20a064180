import type { MessageEntity } from '@grammyjs/types';

/** Formatted text after parsing: what people read, and how it looks. */
export interface ParsedText {
  text: string;
  entities: MessageEntity[];
}

/** The text cannot be parsed; the message is Telegram's. */
export class EntityError extends Error {}

interface OpenTag {
  name: string;
  offset: number;
  value: string;
}

const PLAIN: Record<string, 'bold' | 'italic' | 'underline' | 'strikethrough' | 'spoiler' | 'blockquote'> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
  blockquote: 'blockquote',
};
const TAGS = new Set([...Object.keys(PLAIN), 'a', 'pre', 'code', 'tg-emoji']);
const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' };
/** Telegram ignores further ones. */
const MOST_ENTITIES = 100;

/** Parses HTML as the servers of Telegram do, with their errors. Lengths are in UTF-16 units. */
export function parseHtml(source: string): ParsedText {
  const open: OpenTag[] = [];
  const entities: MessageEntity[] = [];
  let text = '';
  let at = 0;
  while (at < source.length) {
    if (source[at] !== '<') {
      const [piece, next] = readCharacter(source, at);
      text += piece;
      at = next;
    } else if (source[at + 1] === '/') {
      at = readEndTag({ source, at, open }, (tag) => {
        if (text.length > tag.offset) addEntity(entities, tag, text);
      });
    } else {
      const [tag, next] = readStartTag(source, at);
      open.push({ ...tag, offset: text.length });
      at = next;
    }
  }
  const left = open.at(-1);
  if (left) throw new EntityError(`Can't find end tag corresponding to start tag "${left.name}"`);
  return trimmed(text, entities);
}

/** One character, or what a character reference stands for. Unknown references stay as they are. */
function readCharacter(source: string, at: number): [piece: string, next: number] {
  const found = /^&(?:#x([\da-f]+)|#(\d+)|([a-z]+));?/i.exec(source.slice(at, at + 20));
  if (source[at] !== '&' || !found) return [source[at] ?? '', at + 1];
  const [all, hex, decimal, name = ''] = found;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const piece = NAMED[name] ?? (code > 0 && code < 0x10ffff ? String.fromCodePoint(code) : undefined);
  return piece === undefined ? ['&', at + 1] : [piece, at + all.length];
}

function readStartTag(source: string, at: number): [tag: { name: string; value: string }, next: number] {
  const where = `at byte offset ${bytesTo(source, at)}`;
  const name = /^[^\s>]*/.exec(source.slice(at + 1))?.[0].toLowerCase() ?? '';
  const attributes = new Map<string, string>();
  let next = skipSpace(source, at + 1 + name.length);
  if (next < source.length && !TAGS.has(name)) throw new EntityError(`Unsupported start tag "${name}" ${where}`);
  while (next < source.length && source[next] !== '>')
    next = skipSpace(source, readAttribute({ source, at: next, tag: name }, attributes));
  if (next >= source.length) throw new EntityError(`Unclosed start tag ${where}`);
  if (name === 'span' && attributes.get('class') !== 'tg-spoiler')
    throw new EntityError(`Tag "span" must have class "tg-spoiler" ${where}`);
  return [{ name, value: attributes.get(VALUES[name] ?? 'class') ?? '' }, next + 1];
}

/** The attribute that matters. */
const VALUES: Record<string, string> = { a: 'href', 'tg-emoji': 'emoji-id' };

const skipSpace = (source: string, at: number): number => at + (/^\s*/.exec(source.slice(at))?.[0].length ?? 0);

function readAttribute(
  { source, at, tag }: { source: string; at: number; tag: string },
  attributes: Map<string, string>,
): number {
  const where = `in the tag "${tag}" at byte offset ${bytesTo(source, at)}`;
  const found = /^([^\s=>]*)(?:\s*=\s*("[^"]*"|'[^']*'|[\w.-]+))?/.exec(source.slice(at));
  const [all = '', name = '', value] = found ?? [];
  if (name === '') throw new EntityError(`Empty attribute name ${where}`);
  if (value === undefined && !(tag === 'blockquote' && name === 'expandable'))
    throw new EntityError(`Expected equal sign in declaration of an attribute ${where}`);
  const next = source[at + all.length];
  if (next !== undefined && !/[\s>]/.test(next)) throw new EntityError(`Unexpected end of name token ${where}`);
  attributes.set(name.toLowerCase(), decoded((value ?? '').replace(/^(["'])(.*)\1$/s, '$2')));
  return at + all.length;
}

function decoded(text: string): string {
  let out = '';
  for (let at = 0; at < text.length; ) {
    const [piece, next] = readCharacter(text, at);
    out += piece;
    at = next;
  }
  return out;
}

function readEndTag(
  { source, at, open }: { source: string; at: number; open: OpenTag[] },
  close: (tag: OpenTag) => void,
): number {
  const tag = open.pop();
  if (!tag) throw new EntityError(`Unexpected end tag at byte offset ${bytesTo(source, at)}`);
  const found = /^<\/([^\s>]*)\s*>/.exec(source.slice(at));
  if (!found) throw new EntityError(`Unclosed end tag at byte offset ${bytesTo(source, at)}`);
  const [all, name = ''] = found;
  if (name !== '' && name.toLowerCase() !== tag.name) {
    const expected = `expected "</${tag.name}>", found "</${name.toLowerCase()}>"`;
    throw new EntityError(`Unmatched end tag at byte offset ${bytesTo(source, at)}, ${expected}`);
  }
  close(tag);
  return at + all.length;
}

function addEntity(entities: MessageEntity[], tag: OpenTag, text: string): void {
  const { name, offset, value } = tag;
  const place = { offset, length: text.length - offset };
  const plain = PLAIN[name];
  const url = value || text.slice(offset);
  if (plain) entities.push({ type: plain, ...place });
  else if (name === 'tg-emoji') entities.push({ type: 'custom_emoji', ...place, custom_emoji_id: value });
  else if (name === 'pre') addPre(entities, place);
  else if (name === 'code') addCode(entities, place, value);
  else if (isLink(url)) entities.push({ type: 'text_link', ...place, url });
}

function addCode(entities: MessageEntity[], place: { offset: number; length: number }, className: string): void {
  const code: MessageEntity = { type: 'code', ...place };
  if (className.startsWith('language-')) codeLanguages.set(code, className.slice('language-'.length));
  entities.push(code);
}

/** A block whose whole content is code takes over the language of the code. */
function addPre(entities: MessageEntity[], place: { offset: number; length: number }): void {
  const last = entities.at(-1);
  const isCode = last?.type === 'code' && last.offset === place.offset && last.length === place.length;
  const language = isCode ? codeLanguages.get(last) : undefined;
  if (isCode) entities.pop();
  entities.push({ type: 'pre', ...place, ...(language !== undefined && { language }) });
}

const codeLanguages = new WeakMap<MessageEntity, string>();

/** Other links are ignored: the text stays. */
const isLink = (url: string): boolean => /^(https?|tg|mailto|ton):\S+$/i.test(url) || /^[\w-]+(\.[\w-]+)+/.test(url);

/** Telegram removes empty space around a message. */
function trimmed(text: string, entities: readonly MessageEntity[]): ParsedText {
  const clean = text.replaceAll('\r', '').trimEnd();
  const start = clean.length - clean.replace(/^\s*\n|^\s+$/, '').length;
  const kept = entities.slice(0, MOST_ENTITIES).flatMap((entity) => {
    const from = Math.max(0, entity.offset - start);
    const length = Math.min(entity.offset + entity.length, clean.length) - start - from;
    return length > 0 ? [{ ...entity, offset: from, length }] : [];
  });
  return { text: clean.slice(start), entities: kept.sort((a, b) => a.offset - b.offset || b.length - a.length) };
}

const bytesTo = (source: string, at: number): number => Buffer.byteLength(source.slice(0, at));
