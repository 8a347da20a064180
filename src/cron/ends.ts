import { isDeepStrictEqual } from 'node:util';
import { planSkipped } from './due-plan.ts';
import type { Job } from './jobs/job.ts';
import { isDue } from './jobs/job-book.ts';
import { type Attempt, type JobEnd, jobAfter, lineForMain } from './jobs/job-end.ts';
import type { Finish } from './ledger.ts';
import { maxAll } from './misfire.ts';
import type { Outcome } from './occurrence.ts';
import type { OccurrenceRun, Readiness } from './occurrence-run.ts';
import { toEnd, toMissed } from './plain-status.ts';
import type { TransitionContext, TransitionDeps } from './transition-deps.ts';

/** How claims end. */
export class Ends {
  readonly #deps: TransitionDeps;
  readonly #at: TransitionContext;

  constructor(deps: TransitionDeps, at: TransitionContext) {
    this.#deps = deps;
    this.#at = at;
  }

  /**
   * Checks a claim again after it waited, for a slot or for its start. While schedules are off, only runs begin that a
   * caller requested.
   */
  recheck(run: OccurrenceRun): Readiness {
    if (run.isStarted) return undefined;
    const job = this.#at.book.jobs.get(run.job.id);
    if (job) run.job = job;
    const isOff = !this.#deps.settings.enabled && run.claim.trigger === 'schedule' && !run.isRequested;
    return this.#whyNot(job, run) ?? (isOff ? 'hold' : undefined);
  }

  #whyNot(job: Job | undefined, { claim, whyNotStarted }: OccurrenceRun): Outcome | undefined {
    if (!job) return { status: 'skipped', error: 'The job was removed before it began' };
    if (claim.trigger === 'forced') return undefined;
    if (!job.enabled) return { status: 'skipped', error: 'The job was disabled before it began' };
    return claim.attempts === 0 ? this.#at.lateness.missed(job, claim.scheduledMs, whyNotStarted) : undefined;
  }

  /** Records the end of an attempt. Rejects while the store cannot be written; call it again then. */
  async record(run: OccurrenceRun, attempt: Attempt): Promise<void> {
    const { book } = this.#at;
    const { jobId } = run.claim;
    const before = book.jobs.get(jobId);
    const isMoved = !isDeepStrictEqual(before?.schedule, run.job.schedule);
    const end = before && jobAfter(before, attempt, { isMoved });
    const overlapped = end?.kind === 'final' && end.job ? await this.#overlapped(end.job, run) : undefined;
    const job = end?.job && { ...end.job, ...overlapped?.cursor };
    const isOurs = await this.#commit(run, attempt, { before, end, job, settled: overlapped?.settled });
    if (!isOurs) return this.lost(run);
    book.live.delete(jobId);
    if (end?.kind === 'retry') {
      const { claim } = attempt;
      book.retries.set(jobId, { claim: { ...claim, attempts: claim.attempts + 1 }, atMs: end.retryMs });
    }
    book.set(jobId, job);
    const isForgotten = before !== undefined && job === undefined;
    const told = toEnd({ ran: run.job, now: job, isForgotten }, attempt, book.nextRunMs(jobId));
    for (const event of told) this.#deps.publish(event);
    const settled = overlapped?.settled ?? [];
    for (const one of settled) this.#deps.publish(toMissed(run.job, one, book.nextRunMs(jobId)));
    run.settle(attempt.outcome);
  }

  #commit(
    { job: ran, claim }: OccurrenceRun,
    { claim: tried, outcome, endedMs, startedMs, durationMs }: Attempt,
    { end, before, job, settled }: Pick<Finish, 'before' | 'job' | 'settled'> & { end: JobEnd | undefined },
  ): Promise<boolean> {
    const { ledger } = this.#deps;
    if (before && end?.kind === 'retry') {
      return ledger.postpone(tried, { ...end, before, error: outcome.error ?? outcome.status });
    }
    return ledger.finish(claim, {
      ...outcome,
      endedMs,
      startedMs,
      durationMs,
      before,
      job,
      settled,
      tellMain: lineForMain(ran, outcome),
    });
  }

  /**
   * Handles a refused write: another scheduler took the claim, or changed the job. Rejects if the run is still ours;
   * record its end again then.
   */
  async lost(run: OccurrenceRun): Promise<void> {
    const { book, sync } = this.#at;
    const { jobId, scheduledMs, epoch } = run.claim;
    const open = await sync.reload(jobId);
    if (open?.scheduledMs === scheduledMs && open.epoch === epoch && run.isStarted) {
      throw new Error('the job was changed by another scheduler');
    }
    book.live.delete(jobId);
    book.setForeign(jobId, open !== undefined && open.status !== 'retrying');
    run.settle({ status: 'interrupted', error: 'Another scheduler took over the run' });
  }

  /** Skips instants that passed while the job still ran, unless its policy is to run all. */
  async #overlapped(job: Job, run: OccurrenceRun) {
    const { ledger, clock } = this.#deps;
    const nowMs = clock.now();
    if (!job.enabled || maxAll(job.misfire) !== undefined || !isDue(job, nowMs)) return undefined;
    if (job.schedule.kind === 'at') return undefined; // its only time, which an earlier forced run does not replace
    // Instants before the claim, or within a jump of the clock, did not pass while it ran.
    if (job.nextMs < Math.max(run.heldSinceMs, this.#at.lateness.awakeMs())) return undefined;
    const taken = await ledger.recorded(job.id, job.nextMs - 1, { butMissed: false });
    const plan = planSkipped(job, { untilMs: nowMs, reason: 'the previous run was still in progress', taken });
    return plan && { settled: plan.settled, cursor: { nextMs: plan.nextMs, handledMs: plan.handledMs } };
  }
}
