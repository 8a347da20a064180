import { isRecord } from '../../../../protocol/is-record.ts';
import type { Comparison, Name, Node } from './parse.ts';
import { StopOnError } from './tokens.ts';

/** What a poll found, as conditions see it. */
export interface Found {
  output: string;
  /** Undefined: the command did not exit by itself. */
  exitCode: number | undefined;
  /** The output of the poll before; undefined: this is the first. */
  before: string | undefined;
}

/** So many steps a condition may take, one for each part, and one for each thousand characters or ten values that it looks at. */
const MAX_STEPS = 20_000;

/** Whether the condition holds. Throws StopOnError where it cannot be told. */
export function evaluateStopOn(condition: Node, found: Found): boolean {
  return isTrue(new Evaluation(found).valueOf(condition));
}

/** Whether a poll printed something else than the one before. */
export const hasChanged = ({ output, before }: Pick<Found, 'output' | 'before'>): boolean =>
  before !== undefined && before !== output;

class Evaluation {
  readonly #found: Found;
  #steps = 0;
  #data: { value: unknown } | undefined;

  constructor(found: Found) {
    this.#found = found;
  }

  valueOf(node: Node): unknown {
    this.#step(node.at);
    switch (node.kind) {
      case 'value':
        return node.value;
      case 'name':
        return this.#named(node.name);
      case 'list':
        return node.items.map((item) => this.valueOf(item));
      case 'not':
        return !isTrue(this.valueOf(node.of));
      case 'and':
        return this.#joined(node, false);
      case 'or':
        return this.#joined(node, true);
      case 'compare':
        return this.#compare(node);
      case 'index':
        return this.#at(this.valueOf(node.of), this.valueOf(node.key), node.at);
      case 'call':
        return this.#call(node);
    }
  }

  #named(name: Name): unknown {
    const { output, exitCode, before } = this.#found;
    if (name === 'output') return output;
    if (name === 'exit_code') return exitCode ?? null;
    if (name === 'prev_output') return before ?? '';
    if (name === 'changed') return hasChanged(this.#found);
    this.#data ??= { value: toData(output) };
    return this.#data.value;
  }

  /** The first value that decides, as in Python. */
  #joined({ left, right }: Node & { kind: 'and' | 'or' }, decisive: boolean): unknown {
    const first = this.valueOf(left);
    return isTrue(first) === decisive ? first : this.valueOf(right);
  }

  #compare({ by, left, right, at }: Node & { kind: 'compare' }): boolean {
    const [a, b] = [this.valueOf(left), this.valueOf(right)];
    switch (by) {
      case '==':
        return this.#isEqual(a, b, at);
      case '!=':
        return !this.#isEqual(a, b, at);
      case 'in':
        return this.#isIn(a, b, at);
      case 'not in':
        return !this.#isIn(a, b, at);
      default:
        return this.#isOrdered(by, [a, b], at);
    }
  }

  #isOrdered(by: Comparison, [a, b]: readonly [unknown, unknown], at: number): boolean {
    if (typeof a === 'number' && typeof b === 'number') return holds(by, a - b);
    if (typeof a === 'string' && typeof b === 'string') {
      this.#look(a, at);
      return holds(by, a < b ? -1 : Number(a > b));
    }
    throw new StopOnError(`${by} compares two numbers or two texts, not ${typeWord(a)} and ${typeWord(b)}`, at);
  }

  #isIn(a: unknown, b: unknown, at: number): boolean {
    this.#look(b, at);
    if (Array.isArray(b)) return b.some((item) => this.#isEqual(a, item, at));
    if (typeof a !== 'string' || !(typeof b === 'string' || isRecord(b)))
      throw new StopOnError(
        `in looks for a value in a list, or for a text in a text or object, not for ${typeWord(a)} in ${typeWord(b)}`,
        at,
      );
    return typeof b === 'string' ? b.includes(a) : Object.hasOwn(b, a);
  }

  #isEqual(a: unknown, b: unknown, at: number): boolean {
    this.#step(at);
    if (Array.isArray(a) && Array.isArray(b))
      return a.length === b.length && a.every((item, index) => this.#isEqual(item, b[index], at));
    if (!isRecord(a) || !isRecord(b)) return a === b;
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && this.#isEqual(a[key], b[key], at))
    );
  }

  #at(of: unknown, key: unknown, at: number): unknown {
    if (isRecord(of) && typeof key === 'string') {
      if (Object.hasOwn(of, key)) return of[key];
      throw new StopOnError(`There is no key ${shown(key)}; .get(${shown(key)}) gives None instead`, at);
    }
    if ((typeof of === 'string' || Array.isArray(of)) && typeof key === 'number') return itemOf(of, key, at);
    throw new StopOnError(`${typeWord(of)} has no item ${shown(key)}${of === null ? NO_DATA : ''}`, at);
  }

  #call({ name, args, at }: Node & { kind: 'call' }): unknown {
    const [of, second, third = null] = args.map((arg) => this.valueOf(arg));
    this.#look(of, at);
    if (name === 'get') return this.#get({ of, key: second, otherwise: third }, at);
    if (name === 'len') return lengthOf(of, at);
    if (typeof of !== 'string') throw new StopOnError(`${name} needs a text, not ${typeWord(of)}`, at);
    if (name === 'lower') return of.toLowerCase();
    if (name === 'strip') return of.trim();
    if (typeof second !== 'string') throw new StopOnError(`${name} looks for a text, not ${typeWord(second)}`, at);
    return name === 'startswith' ? of.startsWith(second) : of.endsWith(second);
  }

  #get({ of, key, otherwise }: Record<'of' | 'key' | 'otherwise', unknown>, at: number): unknown {
    if (!isRecord(of))
      throw new StopOnError(`get needs an object, not ${typeWord(of)}${of === null ? NO_DATA : ''}`, at);
    if (typeof key !== 'string') throw new StopOnError(`get needs the name of a key, not ${typeWord(key)}`, at);
    return Object.hasOwn(of, key) ? of[key] : otherwise;
  }

  #look(value: unknown, at: number): void {
    if (typeof value === 'string') this.#step(at, value.length / 1_000);
    else if (Array.isArray(value)) this.#step(at, value.length / 10);
  }

  #step(at: number, count = 1): void {
    this.#steps += Math.max(1, count);
    if (this.#steps > MAX_STEPS) throw new StopOnError('The condition takes too many steps', at);
  }
}

function itemOf(of: string | readonly unknown[], index: number, at: number): unknown {
  const item = Number.isInteger(index) ? of.at(index) : undefined;
  if (item !== undefined) return item;
  throw new StopOnError(
    `There is no item ${index}: the ${typeof of === 'string' ? 'text' : 'list'} has ${of.length}`,
    at,
  );
}

const NO_DATA = ' (data is None when the output is not JSON)';

function toData(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return null; // the output is not JSON
  }
}

function holds(by: Comparison, difference: number): boolean {
  if (by === '<') return difference < 0;
  if (by === '<=') return difference <= 0;
  return by === '>' ? difference > 0 : difference >= 0;
}

function lengthOf(value: unknown, at: number): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  if (isRecord(value)) return Object.keys(value).length;
  throw new StopOnError(`len needs a text, list or object, not ${typeWord(value)}`, at);
}

/** As in Python: empty texts, lists and objects, zero and None are false. */
function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isRecord(value) ? Object.keys(value).length > 0 : Boolean(value);
}

function typeWord(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return 'a number';
  return typeof value === 'boolean' ? 'a truth value' : 'an object';
}

const MAX_SHOWN = 60;

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'None').slice(0, MAX_SHOWN);
