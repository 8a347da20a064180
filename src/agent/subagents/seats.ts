/** Lets a limited number of sub-agents work at once, in the order in which they came. */
export class Seats {
  readonly #most: () => number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(most: () => number) {
    this.#most = most;
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

/**
 * The seat of one sub-agent. It has it while it works, and gives it up while it waits for a person or for its own
 * sub-agents, so that those always find one in the end.
 */
export class Seat {
  readonly #seats: Seats;
  readonly #signal: AbortSignal;
  #isTaken = false;
  #waits = 0;

  constructor(seats: Seats, signal: AbortSignal) {
    this.#seats = seats;
    this.#signal = signal;
  }

  async take(): Promise<void> {
    await this.#seats.take(this.#signal);
    this.#isTaken = true;
    if (this.#waits > 0) this.leave(); // it began to wait meanwhile
  }

  leave(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#seats.leave();
  }

  /** Waits without the seat. */
  async whileWaiting<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.leave();
    try {
      return await work();
    } finally {
      if (--this.#waits === 0 && !this.#signal.aborted) await this.take().catch(() => undefined); // what follows sees the signal
    }
  }
}
