import { findDuplicateKey } from './duplicate-keys.ts';

const MAX_LEVELS = 32;

/** `faulty`: valid JSON that different parsers may read differently; the problem is worded for people. */
export type JsonText =
  | { kind: 'read'; value: unknown }
  | { kind: 'faulty'; value: unknown; problem: string }
  | { kind: 'unreadable' };

/** Parses one text frame. A binary frame (undefined) counts as invalid JSON. */
export function readJson(text: string | undefined): JsonText {
  if (text === undefined) return { kind: 'unreadable' };
  try {
    const value: unknown = JSON.parse(text);
    const problem = problemOf(value, text);
    return problem === undefined ? { kind: 'read', value } : { kind: 'faulty', value, problem };
  } catch {
    return { kind: 'unreadable' };
  }
}

interface Walk {
  /** The number of properties in all objects so far. */
  properties: number;
  /** A text frame is UTF-8, so only an escape can be half of a surrogate pair. */
  hasEscapes: boolean;
}

function problemOf(value: unknown, text: string): string | undefined {
  const walk: Walk = { properties: 0, hasEscapes: text.includes('\\u') };
  const problem = walkInto(value, MAX_LEVELS, walk);
  if (problem !== undefined) return problem;
  const name = findDuplicateKey(text, walk.properties);
  return name === undefined ? undefined : `${JSON.stringify(name)} occurs twice in one object`;
}

/** Limits the depth, so that a hostile value cannot overflow the stack. */
function walkInto(value: unknown, levels: number, walk: Walk): string | undefined {
  if (typeof value === 'string') return walk.hasEscapes ? surrogateIn(value) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `nested too deeply (at most ${MAX_LEVELS} levels)`;
  return walkThrough(value, levels, walk);
}

function walkThrough(value: object, levels: number, walk: Walk): string | undefined {
  const isArray = Array.isArray(value);
  for (const key in value) {
    if (!isArray) walk.properties += 1;
    if (key === '__proto__') return PROTOTYPE_NAME;
    const inName = walk.hasEscapes ? surrogateIn(key) : undefined;
    const problem = inName ?? walkInto(Reflect.get(value, key), levels - 1, walk);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Code that copies properties one by one sets the prototype of the copy instead, and loses the value. */
const PROTOTYPE_NAME = 'a property cannot be named __proto__';

/** Databases and other languages would store another text. */
const surrogateIn = (text: string): string | undefined =>
  text.isWellFormed() ? undefined : 'a string holds half of a surrogate pair';
