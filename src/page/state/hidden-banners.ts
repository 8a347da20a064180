import { signal } from '@preact/signals';
import type { Banner } from './banners.ts';
import { KeptStrings } from './memory/kept-strings.ts';

/** The notices that a person has hidden, until they say something else. Information stays hidden after a reload, too. */
export class HiddenBanners {
  readonly #here = signal<readonly string[]>([]);
  readonly #kept: KeptStrings;

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#kept = new KeptStrings(memory, { key: 'headgate.hidden-notices', most: 20 });
  }

  has(banner: Banner): boolean {
    const { keptAs } = banner;
    return (
      this.#here.value.includes(nameOf(banner)) || (keptAs !== undefined && this.#kept.values.value.includes(keptAs))
    );
  }

  hide(banner: Banner): void {
    const { keptAs } = banner;
    if (keptAs === undefined) this.#here.value = [...this.#here.peek(), nameOf(banner)];
    else this.#kept.add(keptAs);
  }

  /** Another tab may have changed them. */
  follow(): void {
    this.#kept.follow();
  }
}

/** With its text: a person who hid one reason has not seen another one. */
const nameOf = ({ id, text }: Banner): string => JSON.stringify([id, text]);
