import type { Clock } from '../../clock.ts';
import { MAX_BACKOFF_MS } from '../backoff.ts';
import type { Claim } from '../occurrence.ts';
import type { OccurrenceRun } from '../occurrence-run.ts';
import { nextOf } from '../schedule/next-of.ts';
import type { Job } from './job.ts';
import { isMissedForGood } from './job-end.ts';

/** How soon it is looked again at a job that another scheduler works on. */
const FOREIGN_MS = 5_000;

/** An attempt that failed and is to be made again. */
export interface Retry {
  claim: Claim;
  atMs: number;
}

/** What is known of every job, as the ledger has it: plain records, and when something has to be done about each. */
export class JobBook {
  readonly jobs = new Map<string, Job>();
  /** Claimed by this scheduler. */
  readonly live = new Map<string, OccurrenceRun>();
  readonly retries = new Map<string, Retry>();
  /** Another scheduler works on it, or worked on it when it died: when to look again. */
  readonly #foreign = new Map<string, number>();
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  set(jobId: string, job: Job | undefined): void {
    if (job) this.jobs.set(jobId, job);
    else this.jobs.delete(jobId);
  }

  /** Jobs of which these revisions tell something else than what is known: they were added, changed or removed. */
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

  /** When something has to be done about the job. */
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

  /** When it runs next, as far as it is planned. */
  nextRunMs(jobId: string): number | undefined {
    const job = this.jobs.get(jobId);
    const retry = this.retries.get(jobId);
    return retry && !isMoot(job, retry) ? retry.atMs : plannedMs(job, this.#clock.now());
  }
}

/** When a job is to run next, but for what waits to be tried again. */
export function plannedMs(job: Job | undefined, nowMs: number): number | undefined {
  if (!job?.enabled) return undefined;
  const holdMs = holdOf(job, nowMs);
  const isHeld = job.nextMs !== undefined && holdMs !== undefined && job.nextMs < holdMs;
  return isHeld ? nextOf(job.schedule, holdMs - 1) : job.nextMs;
}

/**
 * What was handled, or the job itself, is still to come: the clock was set back. A job that is disabled only because its
 * one time was missed is to have it again.
 */
export const isToRewind = (job: Job, nowMs: number): boolean =>
  Math.max(job.handledMs ?? job.sinceMs, job.sinceMs) > nowMs && (job.enabled || isMissedForGood(job));

export const isDue = (job: Job, nowMs: number): job is Job & { nextMs: number } =>
  job.nextMs !== undefined && job.nextMs <= nowMs;

/** A wait that is longer than the longest was counted by a clock that was set back since. */
export const isRetryDue = ({ atMs }: Retry, nowMs: number): boolean => atMs <= nowMs || atMs - nowMs > MAX_BACKOFF_MS;

/** The job is not for that instant any more. */
export const isMoot = (job: Job | undefined, { claim }: Retry): boolean =>
  !job?.enabled || job.schedule.kind !== 'at' || job.schedule.atMs !== claim.scheduledMs;

export const holdOf = ({ holdMs }: Job, nowMs: number): number | undefined =>
  holdMs !== undefined && holdMs - nowMs <= MAX_BACKOFF_MS ? holdMs : undefined;
