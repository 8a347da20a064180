import { performance } from 'node:perf_hooks';
import { worseOf } from '../../../protocol/health/worse-sample.ts';
import type { HealthSample } from '../../../protocol/methods/health.ts';
import type { Clock } from '../../clock.ts';
import type { Store } from '../store/store.ts';

const MINUTE_MS = 60_000;
/** One sample per minute, for a day. */
const KEPT = 24 * 60;

/** What a look at the daemon has found. */
export interface Look {
  /** How much later than asked the timer of the look fired. */
  lateMs: number;
  circuit: HealthSample['circuit'];
  store: HealthSample['store'];
}

/** The busy part of the time since the last call, 0 to 1. */
type TakeBusy = () => number;

/**
 * The health of the last day, one sample per minute, in memory. A sample has the worst of its minute. No timer is added
 * for it: the look at the health every two seconds passes by.
 */
export class HealthSamples {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #takeBusy: TakeBusy;
  readonly #past: HealthSample[] = [];
  #open: HealthSample | undefined;
  #storeMs: number | undefined;

  constructor(
    { clock, store }: { clock: Pick<Clock, 'now'>; store: Pick<Store, 'onWritten'> },
    takeBusy: TakeBusy = busyOfThisProcess(),
  ) {
    this.#clock = clock;
    this.#takeBusy = takeBusy;
    store.onWritten((seconds) => {
      this.#storeMs = Math.max(this.#storeMs ?? 0, seconds * 1_000);
    });
  }

  note({ lateMs, circuit, store }: Look): void {
    const atMs = Math.floor(this.#clock.now() / MINUTE_MS) * MINUTE_MS;
    const busy = round(this.#takeBusy(), 1_000);
    const storeMs = this.#storeMs === undefined ? undefined : round(this.#storeMs, 100);
    this.#storeMs = undefined;
    const late = Math.max(0, Math.round(lateMs));
    const found: HealthSample = { atMs, lagMs: late, busy, circuit, store, ...(storeMs !== undefined && { storeMs }) };
    if (this.#open?.atMs === atMs) {
      this.#open = worseOf(this.#open, found);
      return;
    }
    if (this.#open) this.#past.push(this.#open);
    if (this.#past.length > KEPT) this.#past.shift();
    this.#open = found;
  }

  /** Oldest first, without what is older than a day; several minutes as one sample. */
  list(stepMinutes: number): HealthSample[] {
    const stepMs = stepMinutes * MINUTE_MS;
    const since = this.#clock.now() - KEPT * MINUTE_MS;
    const joined: HealthSample[] = [];
    for (const sample of [...this.#past, ...(this.#open ? [this.#open] : [])]) {
      if (sample.atMs <= since) continue;
      const atMs = Math.floor(sample.atMs / stepMs) * stepMs;
      const last = joined.at(-1);
      if (last?.atMs === atMs) joined[joined.length - 1] = worseOf(last, sample);
      else joined.push({ ...sample, atMs });
    }
    return joined;
  }
}

const round = (value: number, steps: number): number => Math.round(value * steps) / steps;

/** Node counts the time that the event loop works; reading it costs nothing. */
function busyOfThisProcess(): TakeBusy {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return Number.isFinite(utilization) ? utilization : 0;
  };
}
