import { signal } from '@preact/signals';
import type { Banner } from './banners.ts';
import { KeptStrings } from './memory/kept-strings.ts';

/** The notices that a person has hidden. What only informs stays hidden in this browser, until it says something else. */
export class HiddenBanners {
  readonly #here = signal<readonly string[]>([]);
  readonly #kept: KeptStrings;

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#kept = new KeptStrings(memory, { key: 'headgate.hidden-notices', most: 20 });
  }

  has({ id, keptAs }: Banner): boolean {
    return this.#here.value.includes(id) || (keptAs !== undefined && this.#kept.values.value.includes(keptAs));
  }

  hide({ id, keptAs }: Banner): void {
    if (keptAs === undefined) this.#here.value = [...this.#here.peek(), id];
    else this.#kept.keep([...this.#kept.values.peek(), keptAs]);
  }
}
