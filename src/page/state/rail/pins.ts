import { type ReadonlySignal, signal } from '@preact/signals';

const MEMORY_KEY = 'headgate.pins';
const MOST = 100;

/** The workstreams that a person keeps at the top of the list, in this browser. */
export class Pins {
  readonly #memory: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #ids = signal<ReadonlySet<string>>(new Set());

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#memory = memory;
    this.#ids.value = new Set(read(memory));
  }

  get ids(): ReadonlySignal<ReadonlySet<string>> {
    return this.#ids;
  }

  toggle(wsId: string): void {
    const ids = new Set(this.#ids.peek());
    if (!ids.delete(wsId)) ids.add(wsId);
    this.#ids.value = new Set([...ids].slice(-MOST));
    try {
      this.#memory.setItem(MEMORY_KEY, JSON.stringify([...this.#ids.peek()]));
    } catch {
      // The browser's storage is full or switched off: pins are lost at a reload.
    }
  }
}

function read(memory: Pick<Storage, 'getItem'>): string[] {
  try {
    const stored: unknown = JSON.parse(memory.getItem(MEMORY_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
  } catch {
    return []; // not ours, damaged, or the storage is switched off
  }
}
