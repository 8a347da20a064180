import { type ReadonlySignal, signal } from '@preact/signals';

interface KeptStringsOptions {
  key: string;
  /** With more, the oldest are forgotten. */
  most: number;
}

/** A short list that this browser keeps, for all its tabs. Without storage, it is lost at a reload. */
export class KeptStrings {
  readonly #memory: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #options: KeptStringsOptions;
  readonly #values = signal<readonly string[]>([]);
  /** The storage has the values, too. */
  #isStored = true;

  constructor(memory: Pick<Storage, 'getItem' | 'setItem'>, options: KeptStringsOptions) {
    this.#memory = memory;
    this.#options = options;
    this.follow();
  }

  get values(): ReadonlySignal<readonly string[]> {
    return this.#values;
  }

  add(value: string): void {
    this.#change((values) => [...values.filter((one) => one !== value), value]);
  }

  remove(value: string): void {
    this.#change((values) => values.filter((one) => one !== value));
  }

  /** Another tab may have changed it. */
  follow(): void {
    if (this.#isStored) this.#values.value = read(this.#memory, this.#options.key) ?? this.#values.peek();
  }

  #change(change: (values: readonly string[]) => readonly string[]): void {
    this.follow();
    this.#values.value = change(this.#values.peek()).slice(-this.#options.most);
    try {
      this.#memory.setItem(this.#options.key, JSON.stringify(this.#values.peek()));
      this.#isStored = true;
    } catch {
      this.#isStored = false; // the browser's storage is full or switched off
    }
  }
}

/** Undefined: the storage is switched off. */
function read(memory: Pick<Storage, 'getItem'>, key: string): string[] | undefined {
  let text: string | null;
  try {
    text = memory.getItem(key);
  } catch {
    return undefined;
  }
  try {
    const stored: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
  } catch {
    return []; // not ours, or damaged
  }
}
