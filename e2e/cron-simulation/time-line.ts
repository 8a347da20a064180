import type { CronEvidence, SimRun, Span } from './evidence.ts';

/** Answers of the evidence about time. */
export class TimeLine {
  readonly #evidence: CronEvidence;
  /** By owner: when all its slots were taken. */
  readonly #full = new Map<string, Span[]>();
  readonly #down: Span[];

  constructor(evidence: CronEvidence) {
    this.#evidence = evidence;
    this.#down = downTimes(evidence);
    const owners = new Set(evidence.runs.flatMap(({ holds }) => holds.map(({ owner }) => owner)));
    for (const owner of owners) this.#full.set(owner, fullTimes(evidence, owner));
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

  /** Until when, before a true time, `owner` was kept from beginning anything. */
  freeSince(owner: string, beforeMs: number): number {
    const spans = [...this.#evidence.blocked, ...this.#down, ...(this.#full.get(owner) ?? [])];
    return lastEnd(spans, beforeMs);
  }

  /** When a scheduler was last killed before a true time. */
  lastDeath(beforeMs: number): number {
    return Math.max(0, ...this.#evidence.lives.map(({ toMs }) => toMs).filter((toMs) => toMs <= beforeMs));
  }
}

const lastEnd = (spans: readonly Span[], beforeMs: number): number => {
  let latest = 0;
  for (const { fromMs, toMs } of spans) if (fromMs <= beforeMs) latest = Math.max(latest, Math.min(toMs, beforeMs));
  return latest;
};

/** When no scheduler was there. */
function downTimes({ lives }: CronEvidence): Span[] {
  const down: Span[] = [];
  let upToMs = 0;
  for (const { fromMs, toMs } of lives.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (fromMs >= upToMs) down.push({ fromMs: upToMs, toMs: fromMs });
    upToMs = Math.max(upToMs, toMs);
  }
  return down;
}

function fullTimes({ runs, lives, maxConcurrentRuns, endTrueMs }: CronEvidence, owner: string): Span[] {
  const diedMs = lives.find((life) => life.owner === owner)?.toMs ?? endTrueMs;
  const changes = runs.flatMap(({ holds, endMs = endTrueMs }) =>
    holds
      .filter((hold) => hold.owner === owner)
      .flatMap(({ fromMs }) => [
        { atMs: fromMs, by: 1 },
        { atMs: Math.max(fromMs, Math.min(endMs, diedMs)), by: -1 },
      ]),
  );
  const full: Span[] = [];
  let count = 0;
  let fromMs = 0;
  for (const { atMs, by } of changes.sort((a, b) => a.atMs - b.atMs || b.by - a.by)) {
    if (by > 0 && count + by === maxConcurrentRuns) fromMs = atMs;
    if (by < 0 && count === maxConcurrentRuns) full.push({ fromMs, toMs: atMs });
    count += by;
  }
  return full;
}

/** In the order they began. */
export const startedOf = (runs: readonly SimRun[]): SimRun[] =>
  runs.filter(({ startMs }) => startMs !== undefined).sort((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0));

export const runsByJob = (runs: readonly SimRun[]): Map<string, SimRun[]> =>
  Map.groupBy(startedOf(runs), ({ jobId }) => jobId);
