/** Files that a script reads and writes, and whether it runs commands. */
interface SedEffects {
  reads: string[];
  writes: string[];
  runs: boolean;
}

/** Looking for the end of a pattern takes time that grows with the square of the length. */
const MAX_LENGTH = 2_000;

/** Reads a script of sed; undefined if it contains anything unknown. */
export function readSedScript(text: string): SedEffects | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const reader = new SedReader(text);
  return reader.read() ? reader.effects : undefined;
}

class SedReader {
  readonly effects: SedEffects = { reads: [], writes: [], runs: false };
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): boolean {
    while (this.#at < this.#text.length) {
      this.#skip(/[\s;{}]/y);
      if (this.#at >= this.#text.length) return true;
      if (!this.#address() || !this.#command()) return false;
    }
    return true;
  }

  #skip(pattern: RegExp): void {
    while (this.#take(pattern) !== undefined);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (!found) return undefined;
    this.#at += found.length;
    return found;
  }

  #address(): boolean {
    if (!this.#oneAddress()) return false;
    this.#skip(/\s/y);
    if (this.#take(/,/y) !== undefined) {
      this.#skip(/\s/y);
      if (!this.#oneAddress()) return false;
    }
    this.#skip(/[\s!]/y);
    return true;
  }

  #oneAddress(): boolean {
    if (this.#take(/[+~]?\d+(~\d+)?|\$/y) !== undefined) return true;
    if (this.#take(/\//y) !== undefined) return this.#pattern('/');
    const custom = this.#take(/\\[^\n\\]/y);
    return custom === undefined || this.#pattern(custom.slice(1));
  }

  /** Up to the delimiter, which a backslash or brackets may hide. */
  #pattern(delimiter: string): boolean {
    const isFound = this.#upTo(delimiter);
    if (isFound) this.#skip(/[IM]/y);
    return isFound;
  }

  #upTo(delimiter: string): boolean {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const each = this.#text[this.#at];
      if (each === '\\') this.#at += 1;
      // In brackets the delimiter may be literal, which differs between versions.
      else if (
        each === '[' &&
        this.#text
          .slice(this.#at)
          .match(/^\[\^?\]?[^\]]*\]/)?.[0]
          .includes(delimiter)
      )
        return false;
      else if (each === delimiter) {
        this.#at += 1;
        return true;
      }
    }
    return false;
  }

  #command(): boolean {
    const name = this.#take(/[\s\S]/y) ?? '';
    if (/[{}]/.test(name)) return true;
    if (/[pPdDnNgGhHxlzF=]/.test(name)) return this.#isEnd();
    if (/[qQl]/.test(name)) return this.#number();
    if (/[aic]/.test(name)) return this.#rest() !== undefined;
    if (/[:btT]/.test(name)) return this.#label();
    if (name === 's') return this.#substitute();
    if (name === 'y') return this.#transliterate();
    if (name === '#') return this.#line() !== undefined;
    return this.#fileCommand(name);
  }

  #number(): boolean {
    this.#skip(/[ \t\d]/y);
    return this.#isEnd();
  }

  #label(): boolean {
    this.#take(/[^;\n}]*/y);
    return true;
  }

  #fileCommand(name: string): boolean {
    if (name === 'e') {
      this.effects.runs = true;
      return this.#line() !== undefined;
    }
    const files =
      name === 'r' || name === 'R'
        ? this.effects.reads
        : name === 'w' || name === 'W'
          ? this.effects.writes
          : undefined;
    const file = this.#line().trim();
    if (files === undefined || file === '') return false;
    files.push(file);
    return true;
  }

  #substitute(): boolean {
    const delimiter = this.#take(/[^\n\\]/y);
    if (delimiter === undefined || !this.#upTo(delimiter) || !this.#upToPlain(delimiter)) return false;
    const flags = this.#take(/[gpIiMm\d]+/y) ?? '';
    const special = this.#take(/[ew]/y);
    if (special === 'e' || (special === 'w' && flags.includes('e'))) {
      this.effects.runs = true;
      return true; // whatever follows, it is unknown already
    }
    return special === 'w' ? this.#fileCommand('w') : this.#isEnd();
  }

  #transliterate(): boolean {
    const delimiter = this.#take(/[^\n\\]/y);
    return delimiter !== undefined && this.#upToPlain(delimiter) && this.#upToPlain(delimiter) && this.#isEnd();
  }

  #upToPlain(delimiter: string): boolean {
    for (; this.#at < this.#text.length; this.#at += 1) {
      const each = this.#text[this.#at];
      if (each === '\\') this.#at += 1;
      else if (each === delimiter) {
        this.#at += 1;
        return true;
      }
    }
    return false;
  }

  #line(): string {
    return this.#take(/[^\n]+/y) ?? '';
  }

  /** The text of a, i and c, which a backslash continues. */
  #rest(): string {
    return this.#take(/([^\n\\]|\\[\s\S])+/y) ?? '';
  }

  #isEnd(): boolean {
    this.#skip(/[ \t]/y);
    return this.#at >= this.#text.length || /[;\n}#]/.test(this.#text[this.#at] ?? '');
  }
}
