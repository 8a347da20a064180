import type { Timers } from './timers.ts';

/** So many begin at once: a little more than half of what daemons let a connection ask at once. The rest is for a person's own calls. */
const AT_ONCE = 60;
/** Afterwards, one begins in each of these periods: about half of what daemons let a connection ask. */
const PERIOD_MS = 100;

/** Lets jobs begin in order and not too fast, and holds all of them while the daemon refuses them. */
export class Pace {
  readonly #timers: Pick<Timers, 'after' | 'now'>;
  readonly #line = new Set<() => void>();
  #room = AT_ONCE;
  #seenMs: number;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #isAwaited = false;

  constructor(timers: Pick<Timers, 'after' | 'now'>) {
    this.#timers = timers;
    this.#seenMs = timers.now();
  }

  /** Begins the job at once if there is room, else in its turn. Returns a function that takes it out of the line. */
  add(begin: () => void): () => void {
    const job = () => begin(); // the same job may be added twice
    this.#line.add(job);
    this.#go();
    return () => this.#line.delete(job);
  }

  /** The daemon refuses jobs for so long. */
  hold(ms: number): void {
    this.#room = 0;
    this.#seenMs = this.#timers.now();
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#seenMs + ms);
  }

  /** A new connection may ask as often as the first. */
  reset(): void {
    this.#room = AT_ONCE;
    this.#heldUntilMs = Number.NEGATIVE_INFINITY;
  }

  #go(): void {
    const nowMs = this.#timers.now();
    this.#room = Math.min(AT_ONCE, this.#room + (nowMs - this.#seenMs) / PERIOD_MS);
    this.#seenMs = nowMs;
    for (const job of this.#line) {
      if (this.#room < 1 || nowMs < this.#heldUntilMs) break;
      this.#room -= 1;
      this.#line.delete(job);
      job();
    }
    if (this.#line.size === 0 || this.#isAwaited) return;
    this.#isAwaited = true;
    this.#timers.after(Math.max(PERIOD_MS, this.#heldUntilMs - nowMs), () => {
      this.#isAwaited = false;
      this.#go();
    });
  }
}
