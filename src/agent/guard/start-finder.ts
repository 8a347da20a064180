/** Five bits for a byte: letters without regard to case, digits as one, and signs in four groups; others have 0. */
const FIVE_BITS = new Uint8Array(0x100);
for (let code = 1; code < 0x7f; code += 1) {
  const char = String.fromCharCode(code).toLowerCase();
  FIVE_BITS[code] = /[a-z]/.test(char) ? char.charCodeAt(0) - 0x60 : /\d/.test(char) ? 27 : 28 + (code % 4);
}
const KEYS = 1 << 15;

interface Start<T> {
  text: string;
  of: T;
}

/**
 * Finds the places in a text where something may begin, for many beginnings at once and about ten times as fast as a regular
 * expression with all of them. A beginning has at least three characters.
 */
export class StartFinder<T> {
  readonly #isStart = new Uint8Array(KEYS);
  readonly #starts = new Map<number, Start<T>[]>();
  readonly #begins: (text: string, at: number, beginning: string) => boolean;

  /** `ignoresCase`: for letters of ASCII. */
  constructor(starts: Iterable<readonly [beginning: string, of: T]>, { ignoresCase }: { ignoresCase: boolean }) {
    this.#begins = ignoresCase ? beginsInAnyCase : begins;
    for (const [beginning, of] of starts) {
      const text = ignoresCase ? beginning.toLowerCase() : beginning;
      const key = [0, 1, 2].reduce((before, index) => (before << 5) | bitsOf(beginning.charCodeAt(index)), 0);
      this.#isStart[key] = 1;
      this.#starts.set(key, [...(this.#starts.get(key) ?? []), { text, of }]);
    }
  }

  /** Calls `found` for every beginning, in the order of the text, and in that of the constructor at the same place. */
  each(text: string, from: number, found: (at: number, of: T) => void): void {
    const isStart = this.#isStart;
    // The lower halves of characters are enough for the keys. An array is read three times as fast as a text that was joined.
    const bytes = Buffer.from(text, 'latin1');
    let key = (bitsOf(text.charCodeAt(from)) << 5) | bitsOf(text.charCodeAt(from + 1));
    for (let next = from + 2; next < bytes.length; next += 1) {
      key = ((key << 5) & (KEYS - 1)) | (FIVE_BITS[bytes[next] ?? 0] ?? 0);
      if (isStart[key] !== 0) this.#report(text, { at: next - 2, key }, found);
    }
  }

  #report(text: string, { at, key }: { at: number; key: number }, found: (at: number, of: T) => void): void {
    for (const start of this.#starts.get(key) ?? []) if (this.#begins(text, at, start.text)) found(at, start.of);
  }
}

const bitsOf = (code: number): number => FIVE_BITS[code & 0xff] ?? 0;

const begins = (text: string, at: number, beginning: string): boolean => text.startsWith(beginning, at);

function beginsInAnyCase(text: string, at: number, beginning: string): boolean {
  for (let index = 0; index < beginning.length; index += 1) {
    const code = text.charCodeAt(at + index);
    if ((code >= 0x41 && code <= 0x5a ? code + 0x20 : code) !== beginning.charCodeAt(index)) return false;
  }
  return true;
}
