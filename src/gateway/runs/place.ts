/** What can hold a place. */
export type Holder = 'answer' | 'summary' | 'rewind' | 'remove' | 'fork' | 'command' | 'folders' | 'files' | 'note';

interface Held {
  holder: Holder;
  freed: Promise<void>;
  stopping: AbortController;
}

/** The place of the one run that a workstream can have. Whoever holds it may start a run there. */
export class Place {
  #held: Held | undefined;

  get isTaken(): boolean {
    return this.#held !== undefined;
  }

  /** Who holds it. */
  get holder(): Holder | undefined {
    return this.#held?.holder;
  }

  /**
   * Returns a function that frees it, and a signal that asks its holder to end early. A holder may take it again for a
   * part of its work.
   */
  take(holder: Holder): { free(): void; signal: AbortSignal } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = { holder, freed: promise, stopping: this.#held?.stopping ?? new AbortController() };
    this.#held = held;
    const free = () => {
      if (this.#held === held) this.#held = undefined;
      resolve();
    };
    return { free, signal: held.stopping.signal };
  }

  /** Asks the holder to end its work early. Work that is short anyway may ignore it. */
  stop(reason: Error): void {
    this.#held?.stopping.abort(reason);
  }

  /** Resolves when it is free. */
  async settled(): Promise<void> {
    while (this.#held !== undefined) await this.#held.freed;
  }
}
