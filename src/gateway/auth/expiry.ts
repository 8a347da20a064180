import type { Clock } from '../../clock.ts';

/** No timer is longer, because the wall clock may jump and machines sleep. */
const MAX_NAP_MS = 60_000;

interface Expiring {
  /** Ends everything that has expired. */
  sweep(nowMs: number): void;
  /** The remaining expiry times, in any order. */
  ends(): Iterable<number>;
}

interface ExpiryOptions {
  clock: Pick<Clock, 'now' | 'sleep'>;
  /** The clock of the expiry times; default: the wall clock. */
  nowMs?(): number;
  signal: AbortSignal;
}

/** Sweeps close to each expiry time, until aborted. */
export async function runExpiry({ sweep, ends }: Expiring, { clock, nowMs = clock.now, signal }: ExpiryOptions) {
  while (!signal.aborted) {
    sweep(nowMs());
    const nextMs = Math.min(nowMs() + MAX_NAP_MS, ...ends());
    await clock.sleep(nextMs - nowMs(), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
