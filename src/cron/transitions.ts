import { isDeepStrictEqual } from 'node:util';
import type { CronEvent } from '../../protocol/cron.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { firstFree, planDue, planSkipped } from './due-plan.ts';
import type { Executor } from './executor.ts';
import type { Job } from './job.ts';
import { holdOf, isDue, isMoot, isRetryDue, isToRewind, type JobBook, type Retry } from './job-book.ts';
import { type Attempt, type JobEnd, jobAfter, jobAfterMissing, jobSetBack, lineForMain } from './job-end.ts';
import { Lateness } from './lateness.ts';
import { LEASE_MS, LeaseWatch } from './lease-watch.ts';
import type { Finish, Keep, Ledger } from './ledger.ts';
import type { Claim, OpenOccurrence, Outcome, Settled } from './occurrence.ts';
import { OccurrenceRun } from './occurrence-run.ts';
import { toEnd, toMissed } from './plain-status.ts';

export interface TransitionDeps {
  ledger: Ledger;
  executor: Executor;
  clock: Clock;
  log: Log;
  isAlone: boolean;
  publish(event: CronEvent): void;
}

/** A run that somebody asks for. */
export interface ByHand {
  /** Also when it is not due. */
  force: boolean;
  keep?: Keep | undefined;
}

/**
 * The steps that change a job: each is one transaction of the ledger, and the book follows what was committed. For one
 * job they are called one after the other.
 */
export class Transitions {
  readonly #deps: TransitionDeps;
  readonly #book: JobBook;
  readonly #lateness: Lateness;
  readonly #leases: LeaseWatch;

  constructor(deps: TransitionDeps, book: JobBook) {
    this.#deps = deps;
    this.#book = book;
    this.#lateness = new Lateness(deps.clock);
    this.#leases = new LeaseWatch(deps.clock);
  }

  async load(): Promise<void> {
    const { ledger } = this.#deps;
    for (const job of await ledger.jobs()) this.#book.jobs.set(job.id, job);
    for (const open of await ledger.open()) this.#book.setForeign(open.jobId, true);
  }

  /** So that a leap of the clock is noticed soon after it. */
  look(): void {
    this.#lateness.awakeMs();
  }

  /** From now on schedules run by themselves again. */
  switchedOn(): void {
    this.#lateness.isBack('schedules were switched off');
  }

  /** Runs of ours: nobody else may take them. */
  async renew(): Promise<void> {
    const { ledger, clock } = this.#deps;
    for (const { claim } of this.#book.live.values()) await ledger.renew(claim, clock.now() + LEASE_MS);
  }

  async replace(jobId: string, work: (job: Job | undefined) => Promise<Job | undefined>): Promise<Job | undefined> {
    await this.refresh(jobId);
    const after = await work(this.#book.jobs.get(jobId));
    this.#book.set(jobId, after);
    return after;
  }

  /** Claims what is due of a job and settles what can no longer run; undefined when nothing is to run. */
  async claimDue(jobId: string, keep?: Keep): Promise<OccurrenceRun | undefined> {
    if (this.#book.live.has(jobId)) return undefined;
    if (this.#book.isForeign(jobId)) await this.#reload(jobId);
    else await this.refresh(jobId);
    if (this.#book.isForeign(jobId)) return undefined;
    const nowMs = this.#deps.clock.now();
    const job = this.#book.jobs.get(jobId);
    const retry = this.#book.retries.get(jobId);
    if (retry) return this.#dueAgain(job, retry);
    if (!job) return undefined;
    if (isToRewind(job, nowMs)) return this.#rewind(job, nowMs);
    return job.enabled && isDue(job, nowMs) ? this.#advance(job, nowMs, keep) : undefined;
  }

  async #dueAgain(job: Job | undefined, retry: Retry): Promise<OccurrenceRun | undefined> {
    if (!job || isMoot(job, retry)) return this.#giveUp(retry);
    return isRetryDue(retry, this.#deps.clock.now()) ? this.#claimAgain(job, retry) : undefined;
  }

  async claimNow(jobId: string, { force, keep }: ByHand): Promise<OccurrenceRun | 'not-due' | 'already-running'> {
    const { ledger, clock } = this.#deps;
    await this.refresh(jobId);
    if (this.#book.live.has(jobId) || this.#book.isForeign(jobId)) return 'already-running';
    if (!force) return (await this.claimDue(jobId, keep)) ?? 'not-due';
    const retry = this.#book.retries.get(jobId);
    const before = this.#book.jobs.get(jobId);
    if (retry && before && !isMoot(before, retry)) return (await this.#claimAgain(before, retry)) ?? 'already-running';
    if (retry) await this.#giveUp(retry);
    const job = this.#book.jobs.get(jobId);
    if (!job) return 'not-due'; // removed meanwhile
    const nowMs = clock.now();
    const claim = await ledger.force(job, { atMs: nowMs, leaseMs: nowMs + LEASE_MS, keep });
    if (claim) return this.#goLive(job, claim);
    await this.#reload(jobId);
    return 'already-running';
  }

  /** Takes over what its owner left, where that is gone. */
  async adopt(jobId: string): Promise<OccurrenceRun | undefined> {
    const { ledger, clock, isAlone } = this.#deps;
    if (this.#book.live.has(jobId)) return undefined;
    const open = await this.#reload(jobId);
    if (!open || open.status === 'retrying') return undefined;
    if (!isAlone && !this.#leases.isOver(open)) return undefined;
    const claim = await ledger.takeOver(open, clock.now() + LEASE_MS);
    if (!claim) return undefined;
    this.#book.setForeign(jobId, false);
    const started = open.status === 'started' ? open : undefined;
    const job = this.#book.jobs.get(jobId);
    if (job) return this.#goLive(job, claim, started);
    const end: Outcome = started
      ? { status: 'interrupted', error: 'The job was removed, and Headgate stopped' }
      : { status: 'skipped', error: REMOVED };
    await ledger.finish(claim, { ...end, endedMs: clock.now(), before: undefined, job: undefined });
    return undefined;
  }

  /**
   * Looks again at what a claim has waited for: how the attempt ends without having begun, where it is not to begin any
   * more.
   */
  recheck(run: OccurrenceRun): Attempt | undefined {
    if (run.isStarted) return undefined;
    const job = this.#book.jobs.get(run.job.id);
    const outcome = this.#whyNot(job, run.claim);
    if (job) run.job = job;
    return outcome && { claim: run.claim, outcome, endedMs: this.#deps.clock.now() };
  }

  #whyNot(job: Job | undefined, { trigger, attempts, scheduledMs }: Claim): Outcome | undefined {
    if (!job) return { status: 'skipped', error: REMOVED };
    if (trigger === 'forced') return undefined;
    if (!job.enabled) return { status: 'skipped', error: 'The job was disabled before it began' };
    return attempts === 0 ? this.#lateness.missed(job, scheduledMs) : undefined;
  }

  /** Records the end of an attempt. Rejects while the store takes no writes; then it is to be called again. */
  async end(run: OccurrenceRun, attempt: Attempt): Promise<void> {
    const { jobId } = run.claim;
    const before = this.#book.jobs.get(jobId);
    const isMoved = !isDeepStrictEqual(before?.schedule, run.job.schedule);
    const end = before && jobAfter(before, attempt, { isMoved });
    const overlapped = end?.kind === 'final' && end.job ? await this.#overlapped(end.job, run) : undefined;
    const job = end?.job && { ...end.job, ...overlapped?.cursor };
    const isOurs = await this.#recordEnd(run, attempt, { before, end, job, settled: overlapped?.settled });
    if (!isOurs) return this.lost(run);
    this.#book.live.delete(jobId);
    if (end?.kind === 'retry') {
      const { claim } = attempt;
      this.#book.retries.set(jobId, { claim: { ...claim, attempts: claim.attempts + 1 }, atMs: end.retryMs });
    }
    this.#book.set(jobId, job);
    const isForgotten = before !== undefined && job === undefined;
    const told = toEnd({ ran: run.job, now: job, isForgotten }, attempt, this.#book.nextRunMs(jobId));
    for (const event of told) this.#deps.publish(event);
    if (job) this.#tellSettled(job, overlapped?.settled ?? []);
    run.settle(attempt.outcome);
  }

  #recordEnd(
    { job: ran, claim }: OccurrenceRun,
    { claim: tried, outcome, endedMs, startedMs }: Attempt,
    { end, before, ...rest }: Pick<Finish, 'before' | 'job' | 'settled'> & { end: JobEnd | undefined },
  ): Promise<boolean> {
    const { ledger } = this.#deps;
    if (before && end?.kind === 'retry') {
      return ledger.postpone(tried, { ...end, before, error: outcome.error ?? outcome.status });
    }
    return ledger.finish(claim, {
      ...outcome,
      ...{ endedMs, startedMs, before, ...rest },
      tellMain: lineForMain(ran, outcome),
    });
  }

  /**
   * A write of ours was refused: the claim went to another scheduler, or that one has changed the job. Rejects when the
   * run is ours still; then its end is to be recorded again.
   */
  async lost(run: OccurrenceRun): Promise<void> {
    const { jobId, scheduledMs, epoch } = run.claim;
    const open = await this.#reload(jobId);
    if (open?.scheduledMs === scheduledMs && open.epoch === epoch && run.isStarted) {
      throw new Error('the job was changed by another scheduler');
    }
    this.#book.live.delete(jobId);
    this.#book.setForeign(jobId, open !== undefined && open.status !== 'retrying');
    run.settle({ status: 'interrupted', error: 'Another scheduler has taken it over' });
  }

  async #advance(job: Job & { nextMs: number }, nowMs: number, keep?: Keep): Promise<OccurrenceRun | undefined> {
    const { ledger } = this.#deps;
    const taken = await ledger.recorded(job.id, job.nextMs - 1, { butMissed: false });
    const why = this.#lateness.why(job, job.nextMs);
    const { settled, runMs, ...cursor } = planDue({ ...job, holdMs: holdOf(job, nowMs) }, { nowMs, why, taken });
    const moved = { ...job, ...cursor };
    const after = runMs === undefined ? jobAfterMissing(moved, settled) : moved;
    const claim = runMs === undefined ? undefined : { scheduledMs: runMs, leaseMs: nowMs + LEASE_MS, keep };
    const step = await ledger.advance(job, { settled, claim, job: after });
    if (step === undefined) {
      await this.#reload(job.id);
      return undefined;
    }
    this.#book.set(job.id, after);
    this.#tellSettled(after, settled);
    return step === 'settled' ? undefined : this.#goLive(after, step);
  }

  /** Instants that came while the job still ran: not run, unless its policy is to run all. */
  async #overlapped(job: Job, run: OccurrenceRun) {
    const nowMs = this.#deps.clock.now();
    if (!job.enabled || job.misfire === 'all' || !isDue(job, nowMs)) return undefined;
    if (job.schedule.kind === 'at') return undefined; // its only time, which the run by hand before it has not made up for
    // What came before it was begun here, or in a leap of the clock, did not come while it ran.
    if (job.nextMs < Math.max(run.heldSinceMs, this.#lateness.awakeMs())) return undefined;
    const taken = await this.#deps.ledger.recorded(job.id, job.nextMs - 1, { butMissed: false });
    const plan = planSkipped(job, { untilMs: nowMs, reason: 'the run before was still going', taken });
    return plan && { settled: plan.settled, cursor: { nextMs: plan.nextMs, handledMs: plan.handledMs } };
  }

  /** The clock was set back: what was said of the time to come is taken back, what really ran stays. */
  async #rewind(job: Job, nowMs: number): Promise<undefined> {
    const { ledger, log } = this.#deps;
    const taken = await ledger.recorded(job.id, nowMs, { butMissed: true });
    const nextMs = isDue(job, nowMs) ? job.nextMs : firstFree(job, nowMs, taken);
    const after = jobSetBack(job, { nowMs, nextMs });
    if (!(await ledger.rewind(job, after))) {
      await this.#reload(job.id);
      return;
    }
    log.warn({ jobId: job.id, nextMs }, 'the clock was set back; the job waits for the right time');
    this.#book.set(job.id, after);
  }

  async #claimAgain(job: Job, { claim }: Retry): Promise<OccurrenceRun | undefined> {
    const { ledger, clock } = this.#deps;
    const again = await ledger.takeOver({ ...claim, status: 'retrying' }, clock.now() + LEASE_MS);
    this.#book.retries.delete(job.id);
    if (again) return this.#goLive(job, again);
    await this.#reload(job.id);
    return undefined;
  }

  /** There is nothing any more to try it again for. */
  async #giveUp({ claim }: Retry): Promise<undefined> {
    const { ledger, clock } = this.#deps;
    const job = this.#book.jobs.get(claim.jobId);
    const end = { status: 'error', error: 'The job was changed before it was tried again' } as const;
    const isOurs = await ledger.finish(claim, { ...end, endedMs: clock.now(), before: job, job });
    this.#book.retries.delete(claim.jobId);
    if (!isOurs) await this.#reload(claim.jobId);
  }

  #goLive(job: Job, claim: Claim, started?: OpenOccurrence): OccurrenceRun {
    const run = new OccurrenceRun(
      { ...this.#deps, onStarted: ({ id }, runAtMs) => this.#deps.publish({ jobId: id, action: 'started', runAtMs }) },
      { job, claim, ...(started && { started }) },
    );
    this.#book.live.set(job.id, run);
    return run;
  }

  /** Somebody else was first: what is known of the job is out of date. Answers its occurrence that is not over. */
  async #reload(jobId: string): Promise<OpenOccurrence | undefined> {
    const { ledger } = this.#deps;
    const [job, open] = [await ledger.job(jobId), await ledger.openOf(jobId)];
    this.#book.set(jobId, job);
    if (open?.status === 'retrying') this.#book.retries.set(jobId, { claim: open, atMs: open.retryMs ?? 0 });
    else this.#book.retries.delete(jobId);
    this.#book.setForeign(jobId, open !== undefined && open.status !== 'retrying' && !this.#book.live.has(jobId));
    if (!open) this.#leases.forget(jobId);
    return open;
  }

  /** Others may have changed it; who is alone knows. A run of ours finds out at its end. */
  async refresh(jobId: string): Promise<void> {
    if (!this.#deps.isAlone && !this.#book.live.has(jobId)) await this.#reload(jobId);
  }

  #tellSettled(job: Job, settled: readonly Settled[]): void {
    for (const one of settled) this.#deps.publish(toMissed(job, one, this.#book.nextRunMs(job.id)));
  }
}

const REMOVED = 'The job was removed before it began';
