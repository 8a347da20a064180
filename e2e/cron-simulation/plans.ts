import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../../src/cron/jobs/job.ts';
import type { Plan } from './evidence.ts';

/** The plans of each job, and their ends. */
export class Plans {
  readonly all: Plan[] = [];
  readonly #standing = new Map<string, Plan>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A job was added or changed; `before` is its previous state. */
  follow(jobId: string, before: Job | undefined, after: Job | undefined): void {
    const standing = this.#standing.get(jobId);
    const isMoved = !isDeepStrictEqual(wantedOf(before), wantedOf(after));
    if (standing && before && isMoved) this.#end(standing, before);
    if (after && isMoved && isWanted(after)) this.#begin(after);
    const stands = this.#standing.get(jobId);
    if (stands && after) stands.misfire = after.misfire;
  }

  /** Nothing more happens. */
  closeAll(jobs: readonly Job[]): void {
    const left = new Map(jobs.map((job) => [job.id, job]));
    for (const [jobId, plan] of this.#standing) {
      const job = left.get(jobId);
      if (job) Object.assign(plan, { sinceMs: job.sinceMs, nextMs: job.nextMs });
      else plan.overMs = this.#now(); // it removes itself
    }
  }

  #begin({ id, schedule, misfire, sinceMs, nextMs }: Job): void {
    const plan = { jobId: id, schedule, misfire, madeMs: this.#now(), overMs: undefined, sinceMs, nextMs };
    this.#standing.set(id, plan);
    this.all.push(plan);
  }

  #end(plan: Plan, { sinceMs, nextMs }: Job): void {
    Object.assign(plan, { overMs: this.#now(), sinceMs, nextMs });
    this.#standing.delete(plan.jobId);
  }
}

const wantedOf = (job: Job | undefined) => job && { schedule: job.schedule, isWanted: isWanted(job) };

/** Includes a finished one-time job, whose only due time may have been handled as soon as it was added. */
const isWanted = ({ enabled, schedule, handledMs }: Job): boolean =>
  enabled || (schedule.kind === 'at' && handledMs === schedule.atMs);
