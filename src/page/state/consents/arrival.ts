import { type ReadonlySignal, signal } from '@preact/signals';
import type { Browser } from '../browser.ts';
import { findPlace, type Place } from '../finding/message-link.ts';
import { findLoginCode, findProviderProblem } from '../login.ts';
import { type ConsentResult, findConsentResult } from './consent-result.ts';

/** What the address of the page says of how a person came here. It is taken out of the address when it is read. */
export class Arrival {
  readonly #address: Pick<Browser, 'fragment' | 'search'>;
  readonly #consent = signal<ConsentResult | undefined>(undefined);
  #isNew = false;
  #place: Place | undefined;
  readonly #question = signal<string | undefined>(undefined);

  constructor(address: Pick<Browser, 'fragment' | 'search'>) {
    this.#address = address;
  }

  /** How a consent of the person ended. */
  get consent(): ReadonlySignal<ConsentResult | undefined> {
    return this.#consent;
  }

  /** A person who comes back from a consent sees the tool servers first. True until `shown`. */
  get isFromConsent(): boolean {
    return this.#isNew;
  }

  /** What is shown first. */
  get place(): 'agent' | 'inbox' | 'conversation' {
    if (this.isFromNotification) return 'inbox';
    return this.isFromConsent ? 'agent' : 'conversation';
  }

  shown(): void {
    this.#isNew = false;
  }

  /** The conversation that a link leads to; only the first call returns it. */
  takePlace(): Place | undefined {
    const place = this.#place;
    this.#place = undefined;
    return place;
  }

  /** Whether a notification led here. */
  get isFromNotification(): boolean {
    return this.#question.peek() !== undefined;
  }

  /** The entry of the inbox that a notification leads to, empty for none in particular; undefined without one, and after `endQuestion`. */
  get question(): ReadonlySignal<string | undefined> {
    return this.#question;
  }

  /** The person sees the entry, or it does not wait any more. */
  endQuestion(): void {
    this.#question.value = undefined;
  }

  /** Returns the code of a login link, and the problem of a login through a provider. */
  read(): { code: string | undefined; problem: string | undefined } {
    const { fragment, search } = this.#address;
    const code = findLoginCode(`#${fragment.read()}`);
    const place = findPlace(fragment.read());
    const question = findEntry(fragment.read());
    if (code !== undefined || place !== undefined || question !== undefined) fragment.clear();
    if (question !== undefined) this.#question.value = question;
    this.#place = place ?? this.#place; // kept until the login
    const text = search.read();
    const [problem, consent] = [findProviderProblem(text), findConsentResult(text)];
    if (problem !== undefined || consent !== undefined) search.clear();
    if (consent !== undefined) {
      this.#consent.value = consent;
      this.#isNew = true;
    }
    return { code, problem };
  }
}

/** The entry of the inbox that an address names; empty for none in particular, undefined for another address. */
function findEntry(fragment: string): string | undefined {
  const [, entry] = /^inbox(?:=([\w.!~*'()%-]{1,1024}))?$/.exec(fragment) ?? [];
  if (entry === undefined) return fragment === 'inbox' ? '' : undefined;
  try {
    return decodeURIComponent(entry);
  } catch {
    return ''; // cut somewhere in the middle
  }
}
