import { STEP_UP_MS } from '../../../protocol/methods/accounts/step-up.ts';
import type { Clock } from '../../clock.ts';

/**
 * When a person last proved who they are. All principals of a session, and of those before it in the same browser, share it,
 * so that a new proof counts on open connections, too.
 */
export class Proof {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #atMs: number;
  /** Monotonic, so that a clock set back does not prolong it. */
  #staleMs: number;

  /**
   * `atMs`: milliseconds since 1970. One of the future is not fresh: the clock was set back, and nobody knows how long ago it
   * was.
   */
  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, atMs: number) {
    this.#clock = clock;
    this.#atMs = atMs;
    const agoMs = clock.now() - atMs;
    this.#staleMs = agoMs < 0 ? Number.NEGATIVE_INFINITY : clock.monotonic() + STEP_UP_MS - agoMs;
  }

  get atMs(): number {
    return this.#atMs;
  }

  get isFresh(): boolean {
    return this.#atMs + STEP_UP_MS > this.#clock.now() && this.#staleMs > this.#clock.monotonic();
  }

  /** `atMs`: as for a new one; default: now. An earlier proof than the present one changes nothing. */
  renew(atMs = this.#clock.now()): void {
    const next = new Proof(this.#clock, atMs);
    if (next.#staleMs < this.#staleMs) return;
    this.#atMs = next.#atMs;
    this.#staleMs = next.#staleMs;
  }
}
