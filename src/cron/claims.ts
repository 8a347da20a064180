import { isDeepStrictEqual } from 'node:util';
import { firstFree, planDue } from './due-plan.ts';
import type { Job } from './jobs/job.ts';
import { holdOf, isDue, isMoot, isRetryDue, isToRewind, type Retry } from './jobs/job-book.ts';
import { jobAfterMissing, jobSetBack } from './jobs/job-end.ts';
import { LEASE_MS } from './lease-watch.ts';
import type { Keep } from './ledger.ts';
import type { Claim, OpenOccurrence, Outcome } from './occurrence.ts';
import { OccurrenceRun } from './occurrence-run.ts';
import { toMissed } from './plain-status.ts';
import { timeSpent } from './time-spent.ts';
import type { TransitionContext, TransitionDeps } from './transition-deps.ts';

/** A run requested by a caller. */
export interface ByHand {
  /** Run it even if it is not due. */
  force: boolean;
  keep?: Keep | undefined;
}

/** How a scheduler claims occurrences. */
export class Claims {
  readonly #deps: TransitionDeps;
  readonly #at: TransitionContext;

  constructor(deps: TransitionDeps, at: TransitionContext) {
    this.#deps = deps;
    this.#at = at;
  }

  /** Renews the leases of our claims, and stores their working time so that it survives this process. */
  async renew(): Promise<void> {
    const { ledger, clock } = this.#deps;
    for (const { claim, spentMs } of this.#at.book.live.values()) {
      await ledger.renew(claim, { leaseMs: clock.now() + LEASE_MS, spentMs });
    }
  }

  /**
   * Claims the due occurrence of a job and settles those that can no longer run; undefined when there is nothing to
   * run.
   */
  async due(jobId: string, keep?: Keep): Promise<OccurrenceRun | undefined> {
    const { book, sync } = this.#at;
    if (book.live.has(jobId)) return undefined;
    if (book.isForeign(jobId)) await sync.reload(jobId);
    else await sync.refresh(jobId);
    if (book.isForeign(jobId)) return undefined;
    const nowMs = this.#deps.clock.now();
    const job = book.jobs.get(jobId);
    const retry = book.retries.get(jobId);
    if (retry) return this.#dueAgain(job, retry, keep);
    if (!job) return undefined;
    if (isToRewind(job, nowMs)) return this.#rewind(job, nowMs);
    return job.enabled && isDue(job, nowMs) ? this.#advance(job, nowMs, keep) : undefined;
  }

  async #dueAgain(job: Job | undefined, retry: Retry, keep?: Keep): Promise<OccurrenceRun | undefined> {
    if (!job || isMoot(job, retry)) return this.#giveUp(retry);
    return isRetryDue(retry, this.#deps.clock.now()) ? this.#again(job, retry, keep) : undefined;
  }

  async byHand(jobId: string, { force, keep }: ByHand): Promise<OccurrenceRun | 'not-due' | 'already-running'> {
    const { ledger, clock } = this.#deps;
    const { book, sync } = this.#at;
    await sync.refresh(jobId);
    if (book.live.has(jobId) || book.isForeign(jobId)) return 'already-running';
    if (!force) return (await this.due(jobId, keep)) ?? 'not-due';
    const retry = book.retries.get(jobId);
    const before = book.jobs.get(jobId);
    if (retry && before && !isMoot(before, retry)) return (await this.#again(before, retry, keep)) ?? 'already-running';
    if (retry) await this.#giveUp(retry);
    const job = book.jobs.get(jobId);
    if (!job) return 'not-due'; // removed meanwhile
    const nowMs = clock.now();
    const claim = await ledger.force(job, { atMs: nowMs, leaseMs: nowMs + LEASE_MS, keep });
    if (claim) return this.#goLive(job, claim);
    await sync.reload(jobId);
    return 'already-running';
  }

  /** Claims an occurrence again for a caller, which waited in this scheduler while schedules were off. */
  async held(run: OccurrenceRun, keep?: Keep): Promise<OccurrenceRun | 'already-running'> {
    const { ledger, clock } = this.#deps;
    const { book, sync } = this.#at;
    const leaseMs = clock.now() + LEASE_MS;
    const claim = await ledger.takeOver({ ...run.claim, status: 'claimed', spentMs: 0 }, { leaseMs, keep });
    if (claim) {
      const next = this.#goLive(run.job, claim);
      void next.ended.then((outcome) => run.settle(outcome));
      return next;
    }
    book.live.delete(run.job.id);
    await sync.reload(run.job.id);
    return 'already-running';
  }

  /** Takes over an occurrence whose owner is gone, even if its job has been removed since. */
  async adopt(jobId: string): Promise<OccurrenceRun | undefined> {
    const { ledger, clock } = this.#deps;
    const { book, sync } = this.#at;
    if (book.live.has(jobId)) return undefined;
    const open = await sync.reload(jobId);
    if (!open || open.status === 'retrying' || !sync.isOrphan(open)) return undefined;
    const nowMs = clock.now();
    const left = { ...open, spentMs: timeSpent(open, nowMs) };
    const claim = await ledger.takeOver(left, { leaseMs: nowMs + LEASE_MS });
    if (!claim) return undefined;
    book.setForeign(jobId, false);
    const job = book.jobs.get(jobId) ?? open.removedJob;
    if (job) return this.#goLive(job, claim, open.status === 'started' ? left : undefined);
    await ledger.finish(claim, { ...LOST[open.status], endedMs: nowMs, before: undefined, job: undefined });
    return undefined;
  }

  async #advance(job: Job & { nextMs: number }, nowMs: number, keep?: Keep): Promise<OccurrenceRun | undefined> {
    const { ledger } = this.#deps;
    const { book, sync, lateness } = this.#at;
    const taken = await ledger.recorded(job.id, job.nextMs - 1, { butMissed: false });
    const why = lateness.why(job, job.nextMs);
    const { settled, runMs, ...cursor } = planDue({ ...job, holdMs: holdOf(job, nowMs) }, { nowMs, why, taken });
    const moved = { ...job, ...cursor };
    const after = runMs === undefined ? jobAfterMissing(moved, settled) : moved;
    const claim = runMs === undefined ? undefined : { scheduledMs: runMs, leaseMs: nowMs + LEASE_MS, keep };
    const step = await ledger.advance(job, { settled, claim, job: after });
    if (step === undefined) {
      const open = await sync.reload(job.id);
      if (keep || open || !isDeepStrictEqual(book.jobs.get(job.id), job)) return undefined;
      throw new Error('the ledger refused to claim an instant, and nothing has changed'); // so that it is not tried at once
    }
    book.set(job.id, after);
    for (const one of settled) this.#deps.publish(toMissed(after, one, book.nextRunMs(job.id)));
    return step === 'settled' ? undefined : this.#goLive(after, step);
  }

  /**
   * After the clock was set back: discards the records of instants that are in the future again, but keeps those of
   * real runs.
   */
  async #rewind(job: Job, nowMs: number): Promise<undefined> {
    const { ledger, log } = this.#deps;
    const { book, sync } = this.#at;
    const taken = await ledger.recorded(job.id, nowMs, { butMissed: true });
    const nextMs = isDue(job, nowMs) ? job.nextMs : firstFree(job, nowMs, taken);
    const after = jobSetBack(job, { nowMs, nextMs });
    if (!(await ledger.rewind(job, after))) {
      await sync.reload(job.id);
      return;
    }
    log.warn({ jobId: job.id, nextMs }, 'the clock was set back; the next run of the job was computed again');
    book.set(job.id, after);
  }

  async #again(job: Job, { claim }: Retry, keep?: Keep): Promise<OccurrenceRun | undefined> {
    const { ledger, clock } = this.#deps;
    const { book, sync } = this.#at;
    const leaseMs = clock.now() + LEASE_MS;
    const again = await ledger.takeOver({ ...claim, status: 'retrying', spentMs: 0 }, { leaseMs, keep });
    book.retries.delete(job.id);
    if (again) return this.#goLive(job, again);
    await sync.reload(job.id);
    return undefined;
  }

  /** Ends an occurrence whose job no longer has that instant, instead of retrying it. */
  async #giveUp({ claim }: Retry): Promise<undefined> {
    const { ledger, clock } = this.#deps;
    const { book, sync } = this.#at;
    const job = book.jobs.get(claim.jobId);
    const error = `The job was ${job ? 'changed' : 'removed'} before the retry`;
    const isOurs = await ledger.finish(claim, { status: 'error', error, endedMs: clock.now(), before: job, job });
    book.retries.delete(claim.jobId);
    if (!isOurs) await sync.reload(claim.jobId);
  }

  #goLive(job: Job, claim: Claim, started?: OpenOccurrence): OccurrenceRun {
    const { executor, clock, log, publish } = this.#deps;
    const run = new OccurrenceRun(
      { executor, clock, log, onStarted: ({ id }, runAtMs) => publish({ jobId: id, action: 'started', runAtMs }) },
      { job, claim, ...(started && { started }) },
    );
    this.#at.book.live.set(job.id, run);
    return run;
  }
}

/** For an occurrence of a removed job whose scheduler claimed it without knowing of the removal and then died. */
const LOST: Record<'claimed' | 'started', Outcome> = {
  claimed: { status: 'skipped', error: 'The job was removed before it began' },
  started: { status: 'interrupted', error: 'The job was removed, and Headgate stopped' },
};
