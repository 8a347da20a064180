import type { Clock } from './clock.ts';

/** More than a clock is slewed by in a quarter of an hour. */
const MAX_DRIFT_MS = 60_000;

/**
 * Waits, and answers whether the wall clock went on as time did. One that jumped (a wrong server, a battery that is empty,
 * a machine that slept) is no ground to remove anything by its age yet. Rejects with the signal's reason.
 */
export async function passesSteadily(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  const [wallMs, begunMs] = [clock.now(), clock.monotonic()];
  await clock.sleep(ms, signal);
  const driftMs = clock.now() - wallMs - (clock.monotonic() - begunMs);
  return Math.abs(driftMs) < MAX_DRIFT_MS;
}

/**
 * Calls `work` once a day until the signal aborts: first after a quarter of an hour, and always after one in which the
 * clock did not jump. `work` must not reject.
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
