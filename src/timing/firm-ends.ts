import type { Clock } from '../clock.ts';

/**
 * Ends by the wall clock that setting it back does not delay: nothing lasts longer than it would have when it was first asked
 * about. For what somebody allowed for a while.
 */
export class FirmEnds {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  /** By the clock that nobody can set. */
  readonly #ends = new WeakMap<object, number>();

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
  }

  /** How long it lasts still, in milliseconds; 0 or less when it is over. `endMs`: by the wall clock. */
  leftMs(about: object, endMs: number): number {
    const [byWallMs, elapsedMs] = [endMs - this.#clock.now(), this.#clock.monotonic()];
    const firmMs = this.#ends.get(about) ?? elapsedMs + byWallMs;
    this.#ends.set(about, firmMs);
    return Math.min(byWallMs, firmMs - elapsedMs);
  }

  /** `about` was replaced by `next`, which has the same end. */
  keep(about: object, next: object): void {
    const firmMs = this.#ends.get(about);
    if (firmMs !== undefined) this.#ends.set(next, firmMs);
  }
}
