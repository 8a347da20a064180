import { kindOfName, type NameKind, SECRET_WORDS } from './secret-names.ts';
import { isSecretValue, type NamedValue } from './secret-values.ts';
import type { Span } from './spans.ts';
import type { SecretKind } from './tags.ts';

/** The end of a name that may be that of a secret, a sign, and the quotation mark of a value. */
const NAMED = new RegExp(
  `(?:${SECRET_WORDS})[\\w-]{0,32}(?:["'\`]?\\]?[ \\t]{0,4}(?::=|=>|=|:)[ \\t]{0,8}|(?<=--[\\w-]{0,40})[ \\t]{1,4}(?![-=:]))(\\\\?["'\`])?`,
  'gi',
);
const NETRC = /\blogin[ \t]{1,4}\S{1,128}[ \t]{1,4}password[ \t]{1,4}(\S{4,256})/g;
const SCHEMED = /\b(Bearer|Basic|token)[ \t]{1,4}([A-Za-z0-9._~+/=-]+)/gi;
const ADDRESS = /(?<=[a-z])(?<!file):\/\/[^\s/@:"'`<>]{0,128}:([^\s/@"'`<>]{1,256})(@?)/gi;

/** A secret in a text; `isOpen`: the text ends before it is known to be one, or to be complete. */
export interface FoundSecret extends Span {
  isOpen: boolean;
}

/** The values behind names such as `password`, in headers, and in addresses. */
export function* findNamedSecrets(text: string, from: number): Generator<FoundSecret> {
  const lower = Math.max(0, from - LONGEST_NAME);
  for (const find of [findAssigned, findInHeaders, findInAddresses, findInNetrc])
    for (const found of find(text, lower)) if (found.end > from) yield found;
}

function* findInHeaders(text: string, from: number): Generator<FoundSecret> {
  for (const { index, 0: whole, 1: scheme = '', 2: value = '' } of matches(SCHEMED, text, from)) {
    const end = index + whole.length;
    const isBasic = scheme.toLowerCase() === 'basic';
    if (scheme.toLowerCase() === 'token' && !isTokenHeader(text, index)) continue;
    const isOpen = end === text.length;
    if (isOpen || isHeaderValue(value, isBasic))
      yield { start: end - value.length, end, isOpen, flag: 'credential_leak', kind: isBasic ? 'password' : 'api_key' };
  }
}

function* findInAddresses(text: string, from: number): Generator<FoundSecret> {
  for (const { index, 0: whole, 1: value = '', 2: at = '' } of matches(ADDRESS, text, from)) {
    const end = index + whole.length - at.length;
    const isOpen = at === '' && end === text.length;
    if (isOpen || (at !== '' && !isFilledIn(value)))
      yield { start: end - value.length, end, isOpen, flag: 'connection_string_leak', kind: 'password' };
  }
}

function* findInNetrc(text: string, from: number): Generator<FoundSecret> {
  for (const { index, 0: whole, 1: value = '' } of matches(NETRC, text, from)) {
    const end = index + whole.length;
    yield { start: end - value.length, end, isOpen: end === text.length, flag: 'credential_leak', kind: 'password' };
  }
}

const isHeaderValue = (value: string, isBasic: boolean): boolean => value.length >= 16 && (isBasic || /\d/.test(value));

const isTokenHeader = (text: string, at: number): boolean =>
  /authorization["']?\s?[:=]\s?["']?$/i.test(text.slice(Math.max(0, at - 24), at));

const isFilledIn = (value: string): boolean =>
  /^(?:pass(?:word|wd)?|pw|pwd|secret|x{3,}|\*+|\.{3}|<.*|\$.*|%[^0-9a-f].*|\{.*|\[.*|your.*|\d{1,5})$/i.test(value);

/** Keeps its own place, because a search may begin while another one with the same pattern pauses. */
function* matches(pattern: RegExp, text: string, from: number): Generator<RegExpExecArray> {
  for (let at = from; ; ) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) return;
    at = match.index + Math.max(1, match[0].length);
    yield match;
  }
}

/** How much of a line before its value may belong to the name. */
export const LONGEST_NAME = 256;

function* findAssigned(text: string, from: number): Generator<FoundSecret> {
  let after = from;
  for (const match of matches(NAMED, text, from)) {
    if (match.index < after) continue; // it lies in a value
    const found = toAssigned(text, match);
    if (found.end - found.start > LONGEST_SCANNED) after = found.end; // else it would be read once for each word in it
    if (isAssignedSecret(found)) yield found;
  }
}

type Assigned = FoundSecret & { named: NamedValue | undefined };

function toAssigned(text: string, match: RegExpExecArray): Assigned {
  const quote = match[1];
  const start = match.index + match[0].length;
  const end = quote === undefined ? endOfWord(text, start) : endOfQuoted(text, start, quote);
  const name = nameAt(text, match);
  const kind = kindOfName(name);
  const isVariable = isVariableLine(text, match, name);
  const flag = isVariable ? 'env_file_leak' : 'credential_leak';
  const isOpen = end === text.length;
  if (kind === undefined) return { start, end, isOpen, kind: 'secret', flag, named: undefined };
  const value = text.slice(start, Math.min(end, start + LONGEST_VALUE));
  const named = { kind, value, isQuoted: quote !== undefined, isVariable, next: text[end] ?? '' };
  return { start, end, isOpen, kind: TAGS[kind], flag, named };
}

const isAssignedSecret = ({ isOpen, named }: Assigned): boolean =>
  named !== undefined && (isOpen || isSecretValue(named));

/** No more of a value is looked at. */
const LONGEST_VALUE = 4_096;

const TAGS: Record<NameKind, SecretKind> = { password: 'password', key: 'api_key', secret: 'secret', vague: 'secret' };

/** Whether a value that was open is a secret, now that it is known to be complete. */
export function isCompleteSecret(text: string, { start, end, flag, kind }: FoundSecret): boolean {
  const closed = `${text.slice(0, end)}\n`;
  for (const found of findNamedSecrets(closed, start))
    if (found.start === start && found.flag === flag && found.kind === kind) return true;
  return false;
}

/** With what stands before the word, as far as it belongs to the name. */
function nameAt(text: string, { index, 0: whole }: RegExpExecArray): string {
  let from = index;
  while (from > 0 && index - from < 64 && /[\w.-]/.test(text[from - 1] ?? '')) from -= 1;
  const ending = /^[\w-]*/.exec(whole)?.[0] ?? '';
  return text.slice(from, index) + ending;
}

/** `NAME=value` at the beginning of a line, in capital letters. */
function isVariableLine(text: string, { index, 0: whole }: RegExpExecArray, name: string): boolean {
  if (!/^[A-Z][A-Z0-9_]*$/.test(name) || !/^[\w-]*=/.test(whole)) return false;
  const ending = /^[\w-]*/.exec(whole)?.[0].length ?? 0;
  const start = index + ending - name.length;
  return /(?:^|[\n;\s"'])(?:export |set |declare -x |- |ENV |ARG )?$/.test(text.slice(Math.max(0, start - 14), start));
}

/** In a longer value, no further names are looked for. */
const LONGEST_SCANNED = 128;

function endOfWord(text: string, start: number): number {
  WORD.lastIndex = start;
  return start + (WORD.exec(text)?.[0].length ?? 0);
}

const WORD = /[^\s"'`,;&<>(){}[\]|\\]*/y;

/** Up to the same mark, on the same line. */
function endOfQuoted(text: string, start: number, quote: string): number {
  const most = text.length;
  for (let at = start; at < most; at += 1) {
    if (text.startsWith(quote, at) || text[at] === '\n') return at;
    if (text[at] === '\\' && quote.length === 1) at += 1;
  }
  return most;
}
