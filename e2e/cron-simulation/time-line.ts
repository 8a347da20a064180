import type { CronEvidence, SimRun } from './evidence.ts';

/** Questions about time, answered from the evidence. */
export class TimeLine {
  readonly #evidence: CronEvidence;

  constructor(evidence: CronEvidence) {
    this.#evidence = evidence;
  }

  /** The wall-clock time at the end. */
  get endWallMs(): number {
    const { wallSteps, endTrueMs } = this.#evidence;
    return endTrueMs + (wallSteps.at(-1)?.offsetMs ?? 0);
  }

  /** The last moment before a true time at which the wall clock reached or passed a given time. */
  reached(wallMs: number, beforeMs: number): number {
    const steps = this.#evidence.wallSteps;
    let reachedMs = 0;
    for (const [index, { trueMs, offsetMs }] of steps.entries()) {
      if (trueMs > beforeMs) break;
      const previous = steps[index - 1];
      const wasThere = previous !== undefined && trueMs + previous.offsetMs >= wallMs;
      if (trueMs + offsetMs >= wallMs) reachedMs = wasThere ? reachedMs : trueMs;
      else reachedMs = wallMs - offsetMs;
    }
    return reachedMs;
  }

  /** The wall-clock time. */
  wallAt(trueMs: number): number {
    const step = this.#evidence.wallSteps.findLast((one) => one.trueMs <= trueMs);
    return trueMs + (step?.offsetMs ?? 0);
  }

  /** Whether the wall clock had reached a time before a true time. */
  hasShown(wallMs: number, upToMs: number): boolean {
    const steps = this.#evidence.wallSteps;
    return steps.some(({ trueMs, offsetMs }, index) => {
      const endMs = Math.min(upToMs, steps[index + 1]?.trueMs ?? upToMs);
      return trueMs <= upToMs && endMs + offsetMs >= wallMs;
    });
  }

  /** The earliest time to which the wall clock was set after a true time. */
  setBackTo(afterMs: number): number {
    const later = this.#evidence.wallSteps.filter(({ trueMs }) => trueMs >= afterMs);
    return Math.min(...later.map(({ trueMs, offsetMs }) => trueMs + offsetMs));
  }
}

/** In the order of their starts. */
export const startedOf = (runs: readonly SimRun[]): SimRun[] =>
  runs.filter(({ startMs }) => startMs !== undefined).sort((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0));

export const runsByJob = (runs: readonly SimRun[]): Map<string, SimRun[]> =>
  Map.groupBy(startedOf(runs), ({ jobId }) => jobId);

/** When the last process that worked on it saw it end; from then on its job waited for its backoff or retry. */
export const notedMs = ({ startMs, holds, endMs }: SimRun): number =>
  Math.max(endMs ?? startMs ?? 0, ...holds.map(({ fromMs, toMs }) => toMs ?? fromMs));
