import type { Clock } from '../../clock.ts';

/** Timers are never longer: the wall clock may jump and machines sleep. */
const MAX_NAP_MS = 60_000;

interface Expiring {
  /** Ends what is over. */
  sweep(nowMs: number): void;
  /** When the others are over, in any order. */
  ends(): Iterable<number>;
}

interface ExpiryOptions {
  clock: Pick<Clock, 'now' | 'sleep'>;
  /** What moments are told by; default: the wall clock. */
  nowMs?(): number;
  signal: AbortSignal;
}

/** Ends what has a last moment close to that moment, until aborted. */
export async function runExpiry({ sweep, ends }: Expiring, { clock, nowMs = clock.now, signal }: ExpiryOptions) {
  while (!signal.aborted) {
    sweep(nowMs());
    const nextMs = Math.min(nowMs() + MAX_NAP_MS, ...ends());
    await clock.sleep(nextMs - nowMs(), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
