import type { Span } from './spans.ts';
import { toTag } from './tags.ts';

/** Shorter values occur in ordinary text by chance. */
const LEAST_LENGTH = 8;

/** Values that must never be shown, such as the daemon's own keys, in all forms in which an output may contain them. */
export class KnownSecrets {
  /** By the hash of their first two characters. */
  readonly #byStart = new Map<number, string[]>();
  readonly #isStart = new Uint8Array(0x10000);
  readonly #longest: number;

  constructor(values: Iterable<string>) {
    const forms = new Set([...values].filter(({ length }) => length >= LEAST_LENGTH).flatMap(formsOf));
    for (const form of forms) {
      const hash = startOf(form, 0);
      this.#isStart[hash] = 1;
      this.#byStart.set(hash, [...(this.#byStart.get(hash) ?? []), form]);
    }
    for (const list of this.#byStart.values()) list.sort((a, b) => b.length - a.length);
    this.#longest = Math.max(0, ...[...forms].map(({ length }) => length));
  }

  /** The secrets in a text, in order; the longest where several begin. */
  find(text: string, from: number): Span[] {
    const spans: Span[] = [];
    if (this.#longest === 0) return spans;
    for (let at = from; at + 1 < text.length; at += 1) {
      if (this.#isStart[startOf(text, at)] === 0) continue;
      const found = this.#byStart.get(startOf(text, at))?.find((form) => text.startsWith(form, at));
      if (found === undefined) continue;
      spans.push({ start: at, end: at + found.length, kind: 'secret', flag: 'credential_leak' });
      at += found.length - 1;
    }
    return spans;
  }

  /** Where the text ends with the beginning of a secret; its length if it does not. */
  beginningAt(text: string, from: number): number {
    const first = Math.max(from, text.length - this.#longest + 1);
    for (let at = first; at < text.length; at += 1) if (this.#continues(text, at)) return at;
    return text.length;
  }

  #continues(text: string, at: number): boolean {
    const rest = text.slice(at);
    const isBeginning = (form: string) => form.length > rest.length && form.startsWith(rest);
    if (rest.length === 1) return [...this.#byStart.values()].some((forms) => forms.some(isBeginning));
    return this.#byStart.get(startOf(text, at))?.some(isBeginning) ?? false;
  }
}

/** Replaces only known secrets in a text that arrives in pieces. */
export class KnownRedactor {
  isRedacted = false;
  readonly #known: KnownSecrets;
  #held: string;

  constructor(known: KnownSecrets, held: string) {
    this.#known = known;
    this.#held = held;
  }

  write(piece: string): string {
    const text = this.#held + piece;
    const beginning = this.#known.beginningAt(text, 0);
    // A secret may end with its own beginning.
    const whole = this.#known.find(text, 0).find(({ start, end }) => start < beginning && end > beginning);
    const end = whole?.end ?? beginning;
    this.#held = text.slice(end);
    return this.#hide(text.slice(0, end));
  }

  end(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#hide(rest);
  }

  #hide(text: string): string {
    let shown = '';
    let at = 0;
    for (const { start, end, kind } of this.#known.find(text, 0)) {
      shown += text.slice(at, start) + toTag(kind);
      at = end;
      this.isRedacted = true;
    }
    return shown + text.slice(at);
  }
}

const startOf = (text: string, at: number): number => (text.charCodeAt(at) * 251 + text.charCodeAt(at + 1)) & 0xffff;

/** As it is, and as programs write it: encoded for addresses, JSON, in hexadecimal and in base64. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  return [
    value,
    encodeURIComponent(value),
    encodeURIComponent(value).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...[0, 1, 2].flatMap((shift) => base64Of(bytes, shift)),
  ];
}

/** What base64 makes of the value wherever it lies in the encoded data: without the characters that its neighbours share. */
function base64Of(bytes: Buffer, shift: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const isWhole = (shift + bytes.length) % 3 === 0;
  const own = encoded.slice(shift === 0 ? 0 : shift + 1, isWhole ? undefined : -1);
  return own.length < LEAST_LENGTH ? [] : [own, own.replaceAll('+', '-').replaceAll('/', '_')];
}
