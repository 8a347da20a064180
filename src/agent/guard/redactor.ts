import { BETWEEN_LETTERS, hasBetweenLetters } from './between-letters.ts';
import type { KnownSecrets } from './known-secrets.ts';
import { createSecretSearch, isCompleteSecret, LONGEST_NAME } from './named-secrets.ts';
import type { OutputFlag } from './output-assessment.ts';
import { findPrivateKey, privateKeyBeginningAt, restOfPrivateKey } from './private-keys.ts';
import { type FoundSecret, inOrder, type Span } from './spans.ts';
import { toTag } from './tags.ts';
import { tokenBeginningAt } from './token-shapes.ts';

/** The most that is held back because it may be the beginning of a secret. */
const MOST_HELD = 4_096;

interface RedactorOptions {
  /** Hidden whatever `hidesAll` says. */
  known: KnownSecrets;
  /** Whether everything that looks like a secret is replaced; otherwise it is only reported. */
  hidesAll: boolean;
}

/**
 * Replaces secrets in a text that arrives in pieces. What may be the beginning of a secret is held back until that is
 * known, until 4 KiB are held, or until the text ends; all other text is passed on at once.
 */
export class Redactor {
  readonly flags = new Set<OutputFlag>();
  isRedacted = false;
  readonly #options: RedactorOptions;
  /** What was passed on last, because names stand before values, and what is held. */
  #text = '';
  #passedOn = 0;
  #isInKey = false;
  /** The characters at the end of a secret that was longer than what may be held, which continue it. */
  #goesOn: RegExp | undefined;

  constructor(options: RedactorOptions) {
    this.#options = options;
  }

  write(piece: string): string {
    this.#text += piece;
    return this.#take(false);
  }

  end(): string {
    return this.#take(true);
  }

  /** What was not passed on yet. */
  held(): string {
    return this.#text.slice(this.#passedOn);
  }

  #take(isEnd: boolean): string {
    this.#skipRest(isEnd);
    let passed = '';
    for (;;) {
      const { spans, holdFrom } = this.#look(isEnd);
      passed += this.#pass(spans, holdFrom);
      const key = spans.at(-1);
      if (key?.goesOn === undefined) break;
      this.#passedOn = key.end;
      this.#isInKey = true;
      this.#skipRest(isEnd);
      if (this.#isInKey) break;
    }
    this.#forget();
    return passed;
  }

  /** Drops what continues a secret whose tag was given. */
  #skipRest(isEnd: boolean): void {
    if (this.#isInKey) {
      const { end, isOver } = restOfPrivateKey(this.#text, this.#passedOn, isEnd);
      this.#passedOn = end;
      this.#isInKey = !isOver && !isEnd;
    }
    if (this.#goesOn) {
      this.#goesOn.lastIndex = this.#passedOn;
      this.#passedOn += this.#goesOn.exec(this.#text)?.[0].length ?? 0;
      if (this.#passedOn < this.#text.length || isEnd) this.#goesOn = undefined;
    }
  }

  /** The secrets in the text that was not passed on yet, up to a private key, and where text has to be held. */
  #look(isEnd: boolean): { spans: Span[]; holdFrom: number } {
    const from = this.#passedOn;
    if (this.#isInKey) return { spans: [], holdFrom: from };
    const view = toView(this.#text, from);
    const found = this.#find(view.text, view.from, isEnd);
    const spans = inOrder(found.spans.map((span) => ({ ...span, start: view.at(span.start), end: view.at(span.end) })));
    let holdFrom = isEnd ? this.#text.length : Math.max(from, Math.min(view.at(found.holdFrom), this.#text.length));
    const key = spans.findIndex(({ goesOn }) => goesOn !== undefined);
    const upToKey = key < 0 ? spans : spans.slice(0, key + 1);
    const keyEnd = key < 0 ? undefined : spans[key]?.end;
    if (keyEnd !== undefined) return { spans: upToKey, holdFrom: keyEnd };
    const settled = spans.filter(({ end }) => end <= holdFrom);
    const split = spans.find(({ start, end }) => start < holdFrom && end > holdFrom);
    if (split) holdFrom = split.start;
    if (this.#text.length - holdFrom <= MOST_HELD)
      return { spans: settled.filter(({ start }) => start < holdFrom), holdFrom };
    return this.#giveUp(view, spans);
  }

  /** Too much is held: decides by what there is. */
  #giveUp(view: View, spans: readonly Span[]): { spans: Span[]; holdFrom: number } {
    const found = this.#find(view.text, view.from, true).spans;
    const closed = inOrder([
      ...spans,
      ...found.map((span) => ({ ...span, start: view.at(span.start), end: view.at(span.end) })),
    ]);
    if (closed.at(-1)?.end === this.#text.length) this.#goesOn = /[^\s"'`,;&<>(){}[\]|]*/y;
    return { spans: closed, holdFrom: this.#text.length };
  }

  /** Up to the first private key, because its rest is dropped before anything else is looked for. */
  #find(whole: string, from: number, isWhole: boolean): { spans: Span[]; holdFrom: number } {
    const { known } = this.#options;
    const key = findPrivateKey(whole, from);
    const text = key ? whole.slice(0, key.end) : whole;
    const isEnd = isWhole || key !== undefined;
    const spans: Span[] = [];
    let holdFrom = isEnd
      ? text.length
      : Math.min(known.beginningAt(text, from), tokenBeginningAt(text, from), privateKeyBeginningAt(text, from));
    const settle = (span: FoundSecret) => {
      if (!span.isOpen) spans.push(span);
      else if (!isEnd) holdFrom = Math.min(holdFrom, Math.max(from, span.start));
      else if (isCompleteSecret(text, span)) spans.push(span);
    };
    for (const span of searchFor(known)(text, from, isEnd)) settle({ ...span, start: Math.max(from, span.start) });
    if (key) spans.push({ ...key, kind: 'private_key', flag: 'private_key_leak', goesOn: 'private_key' });
    return { spans, holdFrom };
  }

  #pass(spans: readonly Span[], end: number): string {
    let passed = '';
    let at = this.#passedOn;
    for (const span of spans) {
      this.flags.add(span.flag);
      if (IMPLIES_LEAK.has(span.flag)) this.flags.add('credential_leak');
      const isKnown = this.#options.known.find(this.#text.slice(span.start, span.end), 0).length > 0;
      if (!this.#options.hidesAll && !isKnown) continue;
      passed += this.#text.slice(at, span.start) + toTag(span.kind);
      at = span.end;
      this.isRedacted = true;
    }
    this.#passedOn = Math.max(end, at);
    return passed + this.#text.slice(at, Math.max(end, at));
  }

  #forget(): void {
    const keepFrom = Math.max(0, this.#passedOn - LONGEST_NAME);
    this.#text = this.#text.slice(keepFrom);
    this.#passedOn -= keepFrom;
  }
}

/** Made once for each set of known secrets. */
const SEARCHES = new WeakMap<KnownSecrets, ReturnType<typeof createSecretSearch>>();

function searchFor(known: KnownSecrets): ReturnType<typeof createSecretSearch> {
  const made = SEARCHES.get(known) ?? createSecretSearch(known.rule);
  SEARCHES.set(known, made);
  return made;
}

const IMPLIES_LEAK: ReadonlySet<OutputFlag> = new Set(['private_key_leak', 'connection_string_leak', 'env_file_leak']);

/**
 * A text without colours, which programs put into the middle of words, and without hidden characters that were written out,
 * and the way back to places in the whole text.
 */
interface View {
  text: string;
  from: number;
  at(place: number): number;
}

function toView(text: string, from: number): View {
  if (!hasBetweenLetters(text)) return { text, from, at: (place) => place };
  const kept: { shown: number; whole: number }[] = [];
  let plain = '';
  let after = 0;
  let plainFrom: number | undefined;
  for (const { index, 0: code } of [...text.matchAll(BETWEEN_LETTERS), { index: text.length, 0: '' }]) {
    kept.push({ shown: plain.length, whole: after });
    if (plainFrom === undefined && from <= index) plainFrom = plain.length + Math.max(0, from - after);
    plain += text.slice(after, index);
    after = index + code.length;
  }
  return {
    text: plain,
    from: plainFrom ?? plain.length,
    at(place) {
      if (place >= plain.length) return text.length;
      const piece = kept.findLast(({ shown }) => shown <= place);
      return piece === undefined ? place : piece.whole + place - piece.shown;
    },
  };
}
