import type { Clock } from '../clock.ts';

/** More than time synchronization adjusts a clock by in 15 minutes. */
const MAX_DRIFT_MS = 60_000;

/**
 * Waits, and returns whether the wall clock advanced as much as the monotonic clock. After a jump (a wrong time server, an
 * empty battery, a machine that slept) nothing should be removed by its age. Rejects with the signal's reason.
 */
export async function passesSteadily(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  const [wallMs, begunMs] = [clock.now(), clock.monotonic()];
  await clock.sleep(ms, signal);
  const driftMs = clock.now() - wallMs - (clock.monotonic() - begunMs);
  return Math.abs(driftMs) < MAX_DRIFT_MS;
}

/**
 * Calls `work` once a day until the signal aborts, but only after 15 minutes in which the clock did not jump. `work` must
 * not reject.
 */
export async function dailyWhileSteady(clock: Clock, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  let workedMs = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    const isSteady = await passesSteadily(clock, LOOK_MS, signal).catch(() => false); // aborted: the loop ends
    if (!isSteady || clock.monotonic() - workedMs < DAY_MS) continue;
    workedMs = clock.monotonic();
    await work();
  }
}

const LOOK_MS = 15 * 60_000;
const DAY_MS = 86_400_000;
