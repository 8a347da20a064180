import type { SimRun, Span } from './evidence.ts';
import { notedMs, type TimeLine } from './time-line.ts';

const FIRST_MS = 30_000;
const MAX_MS = 3_600_000;

/** The wait after the nth failure of an occurrence. */
export const retryDelayMs = (failures: number): number => Math.min(MAX_MS, FIRST_MS * 2 ** (failures - 1));

/** The wait after the nth consecutive error of a job. */
export const holdDelayMs = (errors: number): number => (errors < 2 ? 0 : retryDelayMs(errors - 1));

/** When a job waited after consecutive errors, at the longest: a change of the job may end the wait. */
export function heldSpans(runs: readonly SimRun[], line: TimeLine, untilMs: number): Span[] {
  const held: Span[] = [];
  let errors = 0;
  for (const [index, run] of runs.entries()) {
    errors = run.outcome === 'error' && run.endMs !== undefined ? errors + 1 : 0;
    if (errors < 2) continue;
    const fromMs = notedMs(run);
    const nextMs = Math.min(untilMs, runs[index + 1]?.startMs ?? untilMs);
    held.push({ fromMs, toMs: line.reached(line.wallAt(fromMs) + holdDelayMs(errors), nextMs) });
  }
  return held.filter(({ fromMs, toMs }) => fromMs < toMs);
}
