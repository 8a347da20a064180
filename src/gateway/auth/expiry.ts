import type { Clock } from '../../clock.ts';

/** Timers are never longer: the wall clock may jump and machines sleep. */
const MAX_NAP_MS = 60_000;

interface Expiring {
  /** Ends what is over. */
  sweep(nowMs: number): void;
  /** When the others are over, in any order. */
  ends(): Iterable<number>;
}

/** Ends what has a last moment close to that moment, until aborted. */
export async function runExpiry({ sweep, ends }: Expiring, { clock, signal }: { clock: Clock; signal: AbortSignal }) {
  while (!signal.aborted) {
    sweep(clock.now());
    const nextMs = Math.min(clock.now() + MAX_NAP_MS, ...ends());
    await clock.sleep(nextMs - clock.now(), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
