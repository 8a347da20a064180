import { type ReadonlySignal, signal } from '@preact/signals';

interface KeptStringsOptions {
  key: string;
  /** With more, the oldest are forgotten. */
  most: number;
}

/** A short list that this browser keeps. Without storage, it is lost at a reload. */
export class KeptStrings {
  readonly #memory: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #options: KeptStringsOptions;
  readonly #values = signal<readonly string[]>([]);

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>, options: KeptStringsOptions) {
    this.#memory = memory;
    this.#options = options;
    this.#values.value = read(memory, options.key);
  }

  get values(): ReadonlySignal<readonly string[]> {
    return this.#values;
  }

  keep(values: readonly string[]): void {
    this.#values.value = values.slice(-this.#options.most);
    try {
      this.#memory.setItem(this.#options.key, JSON.stringify(this.#values.peek()));
    } catch {
      // The browser's storage is full or switched off.
    }
  }
}

function read(memory: Pick<Storage, 'getItem'>, key: string): string[] {
  try {
    const stored: unknown = JSON.parse(memory.getItem(key) ?? '[]');
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
  } catch {
    return []; // not ours, damaged, or the storage is switched off
  }
}
