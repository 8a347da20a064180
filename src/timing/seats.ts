/** Lets a limited number work at once, in the order in which they came. */
export class Seats {
  readonly #most: () => number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(most: () => number) {
    this.#most = most;
  }

  /** How many wait for a seat. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#most()) {
      this.#taken += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => {
      const at = this.#waiting.indexOf(resolve);
      if (at < 0) return; // it has just got the seat
      this.#waiting.splice(at, 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting.push(resolve);
    await promise;
    signal.removeEventListener('abort', onAbort);
  }

  leave(): void {
    this.#taken -= 1;
    while (this.#taken < this.#most() && this.#waiting.length > 0) {
      this.#taken += 1;
      this.#waiting.shift()?.();
    }
  }
}
