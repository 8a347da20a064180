import JSON5 from 'json5';

/** The tokens of JSON5 except white space: comments, literals, punctuation and words. */
export const TOKENS =
  /\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[{}[\]:,]|[^\s{}[\]:,"'/]+/g;

/** A place in the file. */
interface Place {
  key: string;
  /** Undefined for the file itself, which has no key. */
  above: Place | undefined;
  /** The same key follows in the same object; in JSON5 the last one counts. */
  isReplaced: boolean;
}

export interface Literal {
  kind: 'key' | 'value';
  text: string;
  place: Place;
  /** The text that precedes it in its list. */
  before: string | undefined;
}

/** An object, which has keys, or an array. */
interface Level {
  outer: Level | undefined;
  above: Place | undefined;
  keys: Map<string, Place> | undefined;
  /** The place of the next value; undefined if a key comes next. */
  next: Place | undefined;
  /** The literal at `next`, and the one before it; only in an array. */
  current?: string | undefined;
  before?: string | undefined;
}

/** All literals of a text by their position, including ones that the parsed value does not contain. Works at any depth. */
export function literalsOf(text: string): Map<number, Literal> {
  const literals = new Map<number, Literal>();
  let level: Level = { outer: undefined, above: undefined, keys: undefined, next: placeOf('', undefined) };
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (isComment(token)) continue;
    if (isSign(token)) {
      level = levelAfter(level, token);
      continue;
    }
    const kind = level.next === undefined ? 'key' : 'value';
    level.next ??= placeIn(level, token);
    if (!isLiteral(token)) continue;
    const text = textOf(token);
    literals.set(index, { kind, text, place: level.next, before: level.before });
    if (level.keys === undefined) level.current = text;
  }
  return literals;
}

const placeOf = (key: string, above: Place | undefined): Place => ({ key, above, isReplaced: false });

function levelAfter(level: Level, sign: string): Level {
  const { outer, above, keys, next } = level;
  if (sign === '{') return { outer: level, above: next, keys: new Map(), next: undefined };
  if (sign === '[') return { outer: level, above: next, keys: undefined, next: placeOf('0', next) };
  if (sign === '}' || sign === ']') return outer ?? level;
  if (sign === ',') [level.before, level.current] = [level.current, undefined];
  if (sign === ',') level.next = keys ? undefined : placeOf(String(Number(next?.key) + 1), above);
  return level;
}

function placeIn({ keys, above }: Level, token: string): Place {
  const key = Object.keys(JSON5.parse(`{${token}:0}`)).join();
  const place = placeOf(key, above);
  const before = keys?.get(key);
  if (before !== undefined) before.isReplaced = true;
  keys?.set(key, place);
  return place;
}

export const isComment = (token: string): boolean => token.startsWith('/');

const isSign = (token: string): boolean => '{}[]:,'.includes(token);

const isLiteral = (token: string): boolean => token.startsWith('"') || token.startsWith("'");

const textOf = (literal: string): string => String(JSON5.parse(literal));

export const pathOf = (place: Place | undefined): string =>
  stepsTo(place)
    .map(({ key }) => key)
    .join('.');

/** The path from the top level of the file to the place. */
export function stepsTo(place: Place | undefined): Place[] {
  const steps: Place[] = [];
  for (let at = place; at?.above !== undefined; at = at.above) steps.push(at);
  return steps.reverse();
}
