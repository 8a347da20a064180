import type { Clock } from '../clock.ts';

/** Notices when the wall clock does not go on as time does: it was set, or the machine slept. */
export class WallWatch {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #wallMs: number;
  #steadyMs: number;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#wallMs = clock.now();
    this.#steadyMs = clock.monotonic();
  }

  /** How far the wall clock went beyond the time that has passed since the last look; negative when it was set back. */
  look(): number {
    const [wallMs, steadyMs] = [this.#clock.now(), this.#clock.monotonic()];
    const jumpedMs = wallMs - this.#wallMs - (steadyMs - this.#steadyMs);
    this.#wallMs = wallMs;
    this.#steadyMs = steadyMs;
    return jumpedMs;
  }
}
