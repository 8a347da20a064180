import { computed, type ReadonlySignal } from '@preact/signals';
import { KeptStrings } from '../memory/kept-strings.ts';

/** The workstreams that a person keeps at the top of the list, in this browser. */
export class Pins {
  readonly #kept: KeptStrings;
  readonly ids: ReadonlySignal<ReadonlySet<string>>;

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>) {
    const kept = new KeptStrings(memory, { key: 'headgate.pins', most: 100 });
    this.#kept = kept;
    this.ids = computed(() => new Set(kept.values.value));
  }

  toggle(wsId: string): void {
    if (this.ids.peek().has(wsId)) this.#kept.remove(wsId);
    else this.#kept.add(wsId);
  }

  /** Another tab may have changed them. */
  follow(): void {
    this.#kept.follow();
  }
}
