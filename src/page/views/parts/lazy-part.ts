import { type ReadonlySignal, signal } from '@preact/signals';

/** Code that is loaded when it is first shown. */
export class LazyPart<M> {
  readonly #import: () => Promise<M>;
  readonly #module = signal<M | undefined>(undefined);
  readonly #problem = signal<unknown>(undefined);
  #isLoading = false;

  constructor(importPart: () => Promise<M>) {
    this.#import = importPart;
  }

  /** Undefined until it is loaded. */
  get module(): ReadonlySignal<M | undefined> {
    return this.#module;
  }

  /** Why the last attempt failed. */
  get problem(): ReadonlySignal<unknown> {
    return this.#problem;
  }

  /** Never throws. Does nothing if it is loaded, or while it is being loaded. */
  async load(): Promise<void> {
    if (this.#isLoading || this.#module.peek() !== undefined) return;
    this.#isLoading = true;
    this.#problem.value = undefined;
    try {
      this.#module.value = await this.#import();
    } catch (error) {
      this.#problem.value = error;
    } finally {
      this.#isLoading = false;
    }
  }
}
