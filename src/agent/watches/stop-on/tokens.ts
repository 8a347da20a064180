/** A problem with a stop condition, and where it is: the number of characters before it. */
export class StopOnError extends Error {
  override readonly name = 'StopOnError';
  readonly at: number;

  constructor(message: string, at: number) {
    super(`${message} (at character ${at + 1})`);
    this.at = at;
  }
}

/** A word, number, text or sign of a condition. */
export type Token =
  | { kind: 'number'; value: number; at: number }
  | { kind: 'text'; value: string; at: number }
  | { kind: 'word' | 'sign'; value: string; at: number }
  | { kind: 'end'; value: ''; at: number };

const SIGNS = ['==', '!=', '<=', '>=', '<', '>', '(', ')', '[', ']', ',', '.', '-'];
/** Each begins where it is asked to, so that reading takes time in proportion to the length. */
const SPACE = /\s+/y;
const NUMBER = /\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"' };

/** The longest condition, in characters. */
const MAX_LENGTH = 1_000;

/** Splits a condition into tokens. Throws StopOnError. */
export function readTokens(source: string): Token[] {
  if (source.length > MAX_LENGTH)
    throw new StopOnError(`The condition has ${source.length} characters; the limit is ${MAX_LENGTH}`, MAX_LENGTH);
  const tokens: Token[] = [];
  for (let at = matchAt(SPACE, source, 0).length; at < source.length; ) {
    const { token, end } = readToken(source, at);
    tokens.push(token);
    at = end + matchAt(SPACE, source, end).length;
  }
  return [...tokens, { kind: 'end', value: '', at: source.length }];
}

function readToken(source: string, at: number): { token: Token; end: number } {
  const first = source[at] ?? '';
  if (first === '"' || first === "'") return readText(source, at);
  const digits = matchAt(NUMBER, source, at);
  if (digits !== '') return { token: { kind: 'number', value: Number(digits), at }, end: at + digits.length };
  const word = matchAt(WORD, source, at);
  if (word !== '') return { token: { kind: 'word', value: word, at }, end: at + word.length };
  const sign = SIGNS.find((one) => source.startsWith(one, at));
  if (sign !== undefined) return { token: { kind: 'sign', value: sign, at }, end: at + sign.length };
  throw new StopOnError(`Unexpected ${quoted(first)}${hintFor(first)}`, at);
}

const hintFor = (sign: string): string => {
  if (sign === '=') return '; use == to compare';
  if (sign === '&' || sign === '|' || sign === '!') return '; use the words and, or, not';
  return '';
};

function readText(source: string, at: number): { token: Token; end: number } {
  const quote = source[at];
  let value = '';
  for (let end = at + 1; end < source.length; end++) {
    const char = source[end] ?? '';
    if (char === quote) return { token: { kind: 'text', value, at }, end: end + 1 };
    if (char !== '\\') {
      value += char;
      continue;
    }
    end += 1;
    const escaped = ESCAPES[source[end] ?? ''];
    if (escaped === undefined)
      throw new StopOnError(`Unknown escape \\${source[end] ?? ''}; use \\n, \\t, \\r, \\\\, \\' or \\"`, end - 1);
    value += escaped;
  }
  throw new StopOnError('The text has no closing quote', at);
}

function matchAt(pattern: RegExp, source: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? '';
}

/** How errors name a part of a condition. */
export const quoted = (text: string): string => (text === '' ? 'the end' : `"${text}"`);
