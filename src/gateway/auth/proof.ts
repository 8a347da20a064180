import { STEP_UP_MS } from '../../../protocol/methods/accounts/step-up.ts';
import type { Clock } from '../../clock.ts';

/**
 * When a person last proved who they are. All principals of a session share it, so that a new proof counts on open
 * connections, too.
 */
export class Proof {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #atMs: number;
  /** Monotonic, so that a clock set back does not prolong it. */
  #staleMs: number;

  /** `atMs`: milliseconds since 1970. */
  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, atMs: number) {
    this.#clock = clock;
    this.#atMs = atMs;
    this.#staleMs = clock.monotonic() + Math.min(STEP_UP_MS, atMs + STEP_UP_MS - clock.now());
  }

  get atMs(): number {
    return this.#atMs;
  }

  get isFresh(): boolean {
    return this.#atMs + STEP_UP_MS > this.#clock.now() && this.#staleMs > this.#clock.monotonic();
  }

  renew(): void {
    this.#atMs = this.#clock.now();
    this.#staleMs = this.#clock.monotonic() + STEP_UP_MS;
  }
}
