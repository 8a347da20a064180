import type { Clock } from '../clock.ts';

/** Detects when the wall clock does not advance with real time: it was set, or the machine slept. */
export class WallWatch {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #wallMs: number;
  #steadyMs: number;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#wallMs = clock.now();
    this.#steadyMs = clock.monotonic();
  }

  /**
   * How far the wall clock advanced beyond the time that has passed since the last call; negative when it was set back.
   */
  look(): number {
    const [wallMs, steadyMs] = [this.#clock.now(), this.#clock.monotonic()];
    const jumpedMs = wallMs - this.#wallMs - (steadyMs - this.#steadyMs);
    this.#wallMs = wallMs;
    this.#steadyMs = steadyMs;
    return jumpedMs;
  }
}
