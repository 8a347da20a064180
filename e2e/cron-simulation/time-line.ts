import type { CronEvidence, SimRun } from './evidence.ts';

/** Answers of the evidence about time. */
export class TimeLine {
  readonly #evidence: CronEvidence;

  constructor(evidence: CronEvidence) {
    this.#evidence = evidence;
  }

  /** What the wall clock showed at the end. */
  get endWallMs(): number {
    const { wallSteps, endTrueMs } = this.#evidence;
    return endTrueMs + (wallSteps.at(-1)?.offsetMs ?? 0);
  }

  /** When, before a true time, the wall clock last came to or over a time that it shows. */
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

  /** What the wall clock showed. */
  wallAt(trueMs: number): number {
    const step = this.#evidence.wallSteps.findLast((one) => one.trueMs <= trueMs);
    return trueMs + (step?.offsetMs ?? 0);
  }

  /** Whether the wall clock has shown a time, or a later one, up to a true time. */
  hasShown(wallMs: number, upToMs: number): boolean {
    const steps = this.#evidence.wallSteps;
    return steps.some(({ trueMs, offsetMs }, index) => {
      const endMs = Math.min(upToMs, steps[index + 1]?.trueMs ?? upToMs);
      return trueMs <= upToMs && endMs + offsetMs >= wallMs;
    });
  }

  /** The earliest time that the wall clock was set to after a true time. */
  setBackTo(afterMs: number): number {
    const later = this.#evidence.wallSteps.filter(({ trueMs }) => trueMs >= afterMs);
    return Math.min(...later.map(({ trueMs, offsetMs }) => trueMs + offsetMs));
  }
}

/** In the order they began. */
export const startedOf = (runs: readonly SimRun[]): SimRun[] =>
  runs.filter(({ startMs }) => startMs !== undefined).sort((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0));

export const runsByJob = (runs: readonly SimRun[]): Map<string, SimRun[]> =>
  Map.groupBy(startedOf(runs), ({ jobId }) => jobId);

/** When the last process that worked on it saw it end: from then on its job was left alone, or waited to be tried again. */
export const notedMs = ({ startMs, holds, endMs }: SimRun): number =>
  Math.max(endMs ?? startMs ?? 0, ...holds.map(({ fromMs, toMs }) => toMs ?? fromMs));
