import { quoted, readTokens, StopOnError, type Token } from './tokens.ts';

/** The variables of a condition. */
export const NAMES = ['output', 'data', 'exit_code', 'prev_output', 'changed'] as const;
export type Name = (typeof NAMES)[number];

/** The functions of a condition with how many arguments they take; each is also a method of its first argument. */
export const FUNCTIONS = {
  len: [1, 1],
  lower: [1, 1],
  strip: [1, 1],
  startswith: [2, 2],
  endswith: [2, 2],
  get: [2, 3],
} as const;
export type FunctionName = keyof typeof FUNCTIONS;

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

/** A condition as a tree. `at`: where it stands in the text. */
export type Node = { at: number } & (
  | { kind: 'value'; value: string | number | boolean | null }
  | { kind: 'name'; name: Name }
  | { kind: 'list'; items: Node[] }
  | { kind: 'not'; of: Node }
  | { kind: 'and' | 'or'; left: Node; right: Node }
  | { kind: 'compare'; by: Comparison; left: Node; right: Node }
  | { kind: 'index'; of: Node; key: Node }
  | { kind: 'call'; name: FunctionName; args: Node[] }
);

/** So deep may parentheses, lists, calls and `not` stand in each other. */
export const MAX_DEPTH = 24;

const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
  ['None', null],
  ['null', null],
]);
const SIGN_COMPARISONS: readonly Comparison[] = ['==', '!=', '<', '<=', '>', '>='];

/** Reads a condition. Throws StopOnError. */
export const parseStopOn = (source: string): Node => new Parser(readTokens(source)).whole();

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Node {
    if (this.#tokens.length === 1) throw new StopOnError('The condition is empty', 0);
    const node = this.#or();
    const rest = this.#token;
    if (rest.kind !== 'end') throw new StopOnError(`Unexpected ${quoted(String(rest.value))}`, rest.at);
    return node;
  }

  get #token(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', value: '', at: 0 };
  }

  #or(): Node {
    let left = this.#and();
    while (this.#isWord('or')) left = { kind: 'or', at: this.#take().at, left, right: this.#and() };
    return left;
  }

  #and(): Node {
    let left = this.#not();
    while (this.#isWord('and')) left = { kind: 'and', at: this.#take().at, left, right: this.#not() };
    return left;
  }

  #not(): Node {
    if (!this.#isWord('not')) return this.#comparison();
    const { at } = this.#take();
    return this.#deeper(at, () => ({ kind: 'not', at, of: this.#not() }));
  }

  #comparison(): Node {
    const left = this.#postfix();
    const { at } = this.#token;
    const by = this.#comparator();
    if (by === undefined) return left;
    const node: Node = { kind: 'compare', at, by, left, right: this.#postfix() };
    const next = this.#token;
    if (this.#comparator() !== undefined)
      throw new StopOnError('Comparisons cannot be chained; join two with "and"', next.at);
    return node;
  }

  /** Takes it. `is` means `==`: there are no other objects than values. */
  #comparator(): Comparison | undefined {
    const { kind, value } = this.#token;
    const sign = kind === 'sign' ? SIGN_COMPARISONS.find((one) => one === value) : undefined;
    if (sign !== undefined || this.#isWord('in')) {
      this.#take();
      return sign ?? 'in';
    }
    if (this.#isWord('is')) {
      this.#take();
      if (!this.#isWord('not')) return '==';
      this.#take();
      return '!=';
    }
    if (!this.#isWord('not')) return undefined;
    const { at } = this.#take();
    if (!this.#isWord('in')) throw new StopOnError('Expected "in" after "not"', at);
    this.#take();
    return 'not in';
  }

  #postfix(): Node {
    let node = this.#primary();
    for (;;) {
      const { at } = this.#token;
      if (this.#isSign('[')) {
        this.#take();
        const of = node;
        node = this.#deeper(at, () => ({ kind: 'index', at, of, key: this.#or() }));
        this.#expect(']');
      } else if (this.#isSign('.')) {
        this.#take();
        node = this.#method(node);
      } else return node;
    }
  }

  #method(of: Node): Node {
    const { kind, value, at } = this.#take();
    const name = kind === 'word' ? toFunction(value) : undefined;
    if (name === undefined)
      throw new StopOnError(`Unknown method ${quoted(String(value))}; read a key with data["key"]`, at);
    if (!this.#isSign('(')) throw new StopOnError(`Expected "(" after .${name}`, this.#token.at);
    return this.#call(name, { at, first: [of] });
  }

  #call(name: FunctionName, { at, first }: { at: number; first: Node[] }): Node {
    this.#expect('(');
    const args = [...first, ...this.#items(')', at)];
    const [least, most] = FUNCTIONS[name];
    if (args.length < least || args.length > most) {
      const range = least === most ? `${least}` : `${least} or ${most}`;
      throw new StopOnError(
        `${name} takes ${range} arguments, with the value that it is called on; got ${args.length}`,
        at,
      );
    }
    return { kind: 'call', at, name, args };
  }

  #items(end: string, at: number): Node[] {
    const items: Node[] = [];
    if (!this.#isSign(end)) {
      do {
        if (items.length > 0) this.#take();
        items.push(this.#deeper(at, () => this.#or()));
      } while (this.#isSign(','));
    }
    this.#expect(end);
    return items;
  }

  #primary(): Node {
    const token = this.#take();
    const { at } = token;
    if (token.kind === 'number' || token.kind === 'text') return { kind: 'value', at, value: token.value };
    if (token.kind === 'word') return this.#word(token.value, at);
    if (token.value === '(') {
      const node = this.#deeper(at, () => this.#or());
      this.#expect(')');
      return node;
    }
    if (token.value === '[') return { kind: 'list', at, items: this.#items(']', at) };
    if (token.value === '-') return this.#negative(at);
    throw new StopOnError(`Expected a value, found ${quoted(token.value)}`, at);
  }

  #negative(at: number): Node {
    const token = this.#take();
    if (token.kind !== 'number') throw new StopOnError('Expected a number after "-"', at);
    return { kind: 'value', at, value: -token.value };
  }

  #word(word: string, at: number): Node {
    const constant = CONSTANTS.get(word);
    if (constant !== undefined) return { kind: 'value', at, value: constant };
    const name = NAMES.find((one) => one === word);
    if (name) return { kind: 'name', at, name };
    const called = toFunction(word);
    if (called && this.#isSign('(')) return this.#call(called, { at, first: [] });
    throw new StopOnError(
      `Unknown name ${quoted(word)}; known are ${NAMES.join(', ')} and the functions ${Object.keys(FUNCTIONS).join(', ')}`,
      at,
    );
  }

  #deeper<T>(at: number, read: () => T): T {
    if (this.#depth >= MAX_DEPTH) throw new StopOnError(`The condition is nested more than ${MAX_DEPTH} deep`, at);
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }

  #take(): Token {
    const token = this.#token;
    this.#next += 1;
    return token;
  }

  #expect(sign: string): void {
    if (!this.#isSign(sign))
      throw new StopOnError(`Expected "${sign}", found ${quoted(String(this.#token.value))}`, this.#token.at);
    this.#take();
  }

  #isWord(word: string): boolean {
    return this.#token.kind === 'word' && this.#token.value === word;
  }

  #isSign(sign: string): boolean {
    return this.#token.kind === 'sign' && this.#token.value === sign;
  }
}

const toFunction = (word: string): FunctionName | undefined =>
  Object.hasOwn(FUNCTIONS, word) ? KNOWN.find((one) => one === word) : undefined;

const KNOWN: readonly FunctionName[] = ['len', 'lower', 'strip', 'startswith', 'endswith', 'get'];
