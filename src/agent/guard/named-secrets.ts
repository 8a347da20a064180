import { PLACED } from './placed-secrets.ts';
import { kindOfName, type NameKind, SECRET_WORDS } from './secret-names.ts';
import { createSearch, type SecretRule } from './secret-rule.ts';
import { isFilledIn, isSecretValue, type NamedValue } from './secret-values.ts';
import type { FoundSecret } from './spans.ts';
import type { SecretKind } from './tags.ts';
import { TOKENS } from './token-shapes.ts';

/** The end of a name that may be that of a secret, a sign, and the quotation mark of a value. */
const NAMED = new RegExp(
  `(?:${SECRET_WORDS.join('|')})[\\w-]{0,32}(?:\\\\{0,3}["'\`]?\\]?[ \\t]{0,4}(?::=|=>|=|:)[ \\t]{0,8}|(?<=--[\\w-]{0,40})[ \\t]{1,4}(?![-=:]))(\\\\?["'\`])?`,
  'iy',
);
const NETRC = /\b(?:login|user)\s{1,12}\S{1,128}\s{1,12}password[ \t]{1,4}(\S{0,256})/y;
const SCHEMED = /\b(Bearer|Basic|token)[ \t]{1,4}([A-Za-z0-9._~+/=-]+)/iy;
const ADDRESS = /(?<=[a-z])(?<!file):\/\/[^\s/@:"'`<>]{0,128}:([^\s/@"'`<>]{1,256})(@?)/iy;

const RULES: readonly SecretRule[] = [
  { starts: SECRET_WORDS, pattern: NAMED, read: readAssigned, skipsTo: endOfAssigned },
  { starts: ['bearer', 'basic', 'token'], pattern: SCHEMED, read: readHeader },
  { starts: ['://'], pattern: ADDRESS, read: readAddress },
  { starts: ['login', 'user'], pattern: NETRC, read: readNetrc },
  ...PLACED,
  ...TOKENS,
];

const search = createSearch(RULES);

/** A search for tokens, for values behind names such as `password`, in headers, in addresses and in other places, and for `more`. */
export function createSecretSearch(more: SecretRule): typeof search {
  const both = createSearch([...RULES, more]);
  return (text, from, isEnd) => both(text, Math.max(0, from - LONGEST_NAME), isEnd).filter(({ end }) => end > from);
}

function readHeader(text: string, { index, 0: whole, 1: scheme = '', 2: value = '' }: RegExpExecArray) {
  const end = index + whole.length;
  const isBasic = scheme.toLowerCase() === 'basic';
  if (scheme.toLowerCase() === 'token' && !isTokenHeader(text, index)) return undefined;
  const isOpen = end === text.length;
  if (!isOpen && !isHeaderValue(value, isBasic)) return undefined;
  const kind = isBasic ? ('password' as const) : ('api_key' as const);
  return { start: end - value.length, end, isOpen, flag: 'credential_leak' as const, kind };
}

function readAddress(text: string, { index, 0: whole, 1: value = '', 2: at = '' }: RegExpExecArray) {
  const end = index + whole.length - at.length;
  const isOpen = at === '' && end === text.length;
  if (!isOpen && (at === '' || isFilledIn(value))) return undefined;
  const kind = 'password' as const;
  return { start: end - value.length, end, isOpen, flag: 'connection_string_leak' as const, kind };
}

function readNetrc(text: string, { index, 0: whole, 1: value = '' }: RegExpExecArray) {
  const end = index + whole.length;
  const isOpen = end === text.length;
  if (!isOpen && (value.length < 4 || isFilledIn(value))) return undefined;
  return { start: end - value.length, end, isOpen, flag: 'credential_leak' as const, kind: 'password' as const };
}

const isHeaderValue = (value: string, isBasic: boolean): boolean => value.length >= 16 && (isBasic || /\d/.test(value));

const isTokenHeader = (text: string, at: number): boolean =>
  /authorization["']?\s?[:=]\s?["']?$/i.test(text.slice(Math.max(0, at - 24), at));

/** How much of a line before its value may belong to the name. */
export const LONGEST_NAME = 256;

function readAssigned(text: string, match: RegExpExecArray): FoundSecret | undefined {
  const found = toAssigned(text, match);
  return isAssignedSecret(found) ? found : undefined;
}

/** A longer value would be read once for each word in it. */
function endOfAssigned(text: string, match: RegExpExecArray): number {
  const { start, end } = toAssigned(text, match);
  return end - start > LONGEST_SCANNED ? end : 0;
}

type Assigned = FoundSecret & { named: NamedValue | undefined };

function toAssigned(text: string, match: RegExpExecArray): Assigned {
  const quote = match[1];
  const start = match.index + match[0].length;
  const name = nameAt(text, match);
  const kind = kindOfName(name);
  const isVariable = isVariableLine(text, match, name);
  const end = quote === undefined ? endOfWord(text, start, isVariable) : endOfQuoted(text, start, quote);
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
  for (const found of search(closed, Math.max(0, start - LONGEST_NAME), true))
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

function endOfWord(text: string, start: number, isVariable: boolean): number {
  const word = isVariable ? VARIABLE : WORD;
  word.lastIndex = start;
  return start + (word.exec(text)?.[0].length ?? 0);
}

const WORD = /[^\s"'`,;&<>(){}[\]|\\]*/y;
/** Environment files have no other separators. */
const VARIABLE = /[^\s"'`]*/y;

/** Up to the same mark, on the same line. */
function endOfQuoted(text: string, start: number, quote: string): number {
  const most = text.length;
  for (let at = start; at < most; at += 1) {
    if (text.startsWith(quote, at) || text[at] === '\n') return at;
    if (text[at] === '\\' && quote.length === 1) at += 1;
  }
  return most;
}
