import type { Seats } from '../../timing/seats.ts';

/**
 * The seat of one sub-agent. It has it while it works, and gives it up while it waits for a person or for its own
 * sub-agents, so that those always find one in the end.
 */
export class Seat {
  readonly #seats: Seats;
  readonly #signal: AbortSignal;
  #isTaken = false;
  #taking: Promise<void> | undefined;
  #waits = 0;

  constructor(seats: Seats, signal: AbortSignal) {
    this.#seats = seats;
    this.#signal = signal;
  }

  /** Several waits may end while it waits for its seat; they need one seat. */
  async take(): Promise<void> {
    if (this.#isTaken) return;
    this.#taking ??= this.#takeOne();
    await this.#taking;
  }

  async #takeOne(): Promise<void> {
    try {
      await this.#seats.take(this.#signal);
    } finally {
      this.#taking = undefined;
    }
    if (this.#waits === 0) this.#isTaken = true;
    else this.#seats.leave(); // it began to wait meanwhile
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
