import type { SecretRule } from './secret-rule.ts';
import type { Span } from './spans.ts';
import { StartFinder } from './start-finder.ts';
import { toTag } from './tags.ts';

/** Shorter values occur in ordinary text by chance. */
const LEAST_LENGTH = 8;

/** Values that must never be shown, such as the daemon's own keys, in all forms in which an output may contain them. */
export class KnownSecrets {
  /** The longest ones first. */
  readonly #forms: readonly string[];
  readonly #firsts: ReadonlySet<string | undefined>;
  readonly #finder: StartFinder<string>;
  /** The same for a search that looks for other secrets, too. */
  readonly rule: SecretRule;

  constructor(values: Iterable<string>) {
    const forms = new Set([...values].filter(({ length }) => length >= LEAST_LENGTH).flatMap(formsOf));
    this.#forms = [...forms].sort((a, b) => b.length - a.length);
    this.#firsts = new Set(this.#forms.map(([first]) => first));
    this.#finder = new StartFinder(
      this.#forms.map((form) => [form, form] as const),
      { ignoresCase: false },
    );
    this.rule = {
      starts: this.#forms,
      pattern: new RegExp(this.#forms.map((form) => form.replace(/[^\w\s]/gu, '\\$&')).join('|'), 'y'),
      read: (_, { index, 0: whole }) => ({ ...toSpan(index, index + whole.length), isOpen: false }),
    };
  }

  /** The secrets in a text, in order; the longest where several begin. */
  find(text: string, from: number): Span[] {
    const spans: Span[] = [];
    if (this.#forms.length === 0) return spans;
    let after = from;
    this.#finder.each(text, from, (at, form) => {
      if (at < after) return;
      after = at + form.length;
      spans.push(toSpan(at, after));
    });
    return spans;
  }

  /** Where the text ends with the beginning of a secret; its length if it does not. */
  beginningAt(text: string, from: number): number {
    const first = Math.max(from, text.length - (this.#forms[0]?.length ?? 0) + 1);
    for (let at = first; at < text.length; at += 1) {
      if (!this.#firsts.has(text[at])) continue;
      const rest = text.slice(at);
      if (this.#forms.some((form) => form.length > rest.length && form.startsWith(rest))) return at;
    }
    return text.length;
  }
}

const toSpan = (start: number, end: number): Span => ({ start, end, kind: 'secret', flag: 'credential_leak' });

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
    .replaceAll('=', '');
  const isWhole = (shift + bytes.length) % 3 === 0;
  const own = encoded.slice(shift === 0 ? 0 : shift + 1, isWhole ? undefined : -1);
  return own.length < LEAST_LENGTH ? [] : [own, own.replaceAll('+', '-').replaceAll('/', '_')];
}
