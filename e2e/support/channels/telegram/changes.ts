import { within } from '../../deadline.ts';

const PATIENCE_MS = 60_000;

/** Wakes those who wait for something to become true. */
export class Changes {
  #next = Promise.withResolvers<void>();

  notify(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves with the first value that `look` finds, now or after a change. */
  async until<T>(look: () => T | undefined, what: () => string): Promise<T> {
    const seek = async (): Promise<T> => {
      for (;;) {
        const { promise } = this.#next;
        const found = look();
        if (found !== undefined) return found;
        await promise;
      }
    };
    return within(seek(), PATIENCE_MS, what);
  }
}
