import type { Clock } from '../../clock.ts';
import { MAX_BACKOFF_MS } from '../backoff.ts';
import type { Claim } from '../occurrence.ts';
import type { OccurrenceRun } from '../occurrence-run.ts';
import { nextOf } from '../schedule/next-of.ts';
import type { Job } from './job.ts';
import { isMissedForGood } from './job-end.ts';

/** When to check again on a job that another scheduler runs. */
const FOREIGN_MS = 5_000;

/** A failed attempt that is to be retried. */
export interface Retry {
  claim: Claim;
  atMs: number;
}

/** The scheduler's copy of the ledger: plain records of every job, and when each one needs attention. */
export class JobBook {
  readonly jobs = new Map<string, Job>();
  /** Claimed by this scheduler. */
  readonly live = new Map<string, OccurrenceRun>();
  readonly retries = new Map<string, Retry>();
  /** Jobs that another scheduler runs, or ran when it died, with the time of the next check. */
  readonly #foreign = new Map<string, number>();
  /** Until when jobs were left to another scheduler. */
  readonly #others = new Map<string, number>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  set(jobId: string, job: Job | undefined): void {
    if (job) this.jobs.set(jobId, job);
    else {
      this.jobs.delete(jobId);
      this.#others.delete(jobId);
    }
  }

  /** Jobs whose revisions differ from the copy: they were added, changed or removed. */
  differing(revisions: ReadonlyMap<string, number>): string[] {
    const removed = [...this.jobs.keys()].filter((id) => !revisions.has(id));
    const changed = [...revisions].filter(([id, revision]) => this.jobs.get(id)?.revision !== revision);
    return [...removed, ...changed.map(([id]) => id)];
  }

  isForeign(jobId: string): boolean {
    return this.#foreign.has(jobId);
  }

  setForeign(jobId: string, isForeign: boolean): void {
    if (isForeign) this.#foreign.set(jobId, this.#clock.now() + FOREIGN_MS);
    else this.#foreign.delete(jobId);
  }

  /** Another scheduler was in charge of the job until now. Only that one knew what was due, or it ran the job. */
  leftToOthers(jobId: string): void {
    this.#others.set(jobId, this.#clock.now());
  }

  /** Until when another scheduler was in charge of the job; 0 if never, or if the clock was set back since. */
  othersMs(jobId: string): number {
    const untilMs = this.#others.get(jobId) ?? 0;
    return untilMs <= this.#clock.now() ? untilMs : 0;
  }

  /** When the job needs attention next. */
  wakeMs(jobId: string): number | undefined {
    if (this.live.has(jobId)) return undefined;
    const nowMs = this.#clock.now();
    const foreignMs = this.#foreign.get(jobId);
    if (foreignMs !== undefined) return Math.min(foreignMs, nowMs + FOREIGN_MS);
    const job = this.jobs.get(jobId);
    const retry = this.retries.get(jobId);
    if (retry) return isMoot(job, retry) || isRetryDue(retry, nowMs) ? nowMs : retry.atMs;
    if (job && isToRewind(job, nowMs)) return nowMs;
    return !job?.enabled || job.nextMs === undefined ? undefined : Math.max(job.nextMs, holdOf(job, nowMs) ?? 0);
  }

  /** The time of the next run, if one is planned. */
  nextRunMs(jobId: string): number | undefined {
    const job = this.jobs.get(jobId);
    const retry = this.retries.get(jobId);
    return retry && !isMoot(job, retry) ? retry.atMs : plannedMs(job, this.#clock.now());
  }
}

/** The time of the next run, without retries. */
export function plannedMs(job: Job | undefined, nowMs: number): number | undefined {
  if (!job?.enabled) return undefined;
  const holdMs = holdOf(job, nowMs);
  const isHeld = job.nextMs !== undefined && holdMs !== undefined && job.nextMs < holdMs;
  return isHeld ? nextOf(job.schedule, holdMs - 1) : job.nextMs;
}

/**
 * Whether handled instants, or the creation of the job, are in the future again because the clock was set back. A job
 * that is disabled only because its single instant was missed gets that instant again.
 */
export const isToRewind = (job: Job, nowMs: number): boolean =>
  Math.max(job.handledMs ?? job.sinceMs, job.sinceMs) > nowMs && (job.enabled || isMissedForGood(job));

export const isDue = (job: Job, nowMs: number): job is Job & { nextMs: number } =>
  job.nextMs !== undefined && job.nextMs <= nowMs;

/** A remaining wait above the maximum means that the clock was set back since. */
export const isRetryDue = ({ atMs }: Retry, nowMs: number): boolean => atMs <= nowMs || atMs - nowMs > MAX_BACKOFF_MS;

/** Whether the job no longer has that instant. */
export const isMoot = (job: Job | undefined, { claim }: Retry): boolean =>
  !job?.enabled || job.schedule.kind !== 'at' || job.schedule.atMs !== claim.scheduledMs;

export const holdOf = ({ holdMs }: Job, nowMs: number): number | undefined =>
  holdMs !== undefined && holdMs - nowMs <= MAX_BACKOFF_MS ? holdMs : undefined;
