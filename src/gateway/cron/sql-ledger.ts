import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Job } from '../../cron/jobs/job.ts';
import { plannedMs } from '../../cron/jobs/job-book.ts';
import type { Advance, Finish, Ledger } from '../../cron/ledger.ts';
import type { Claim, OpenOccurrence } from '../../cron/occurrence.ts';
import type { CronJobTable } from '../store/schema/cron-schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, tookEffect } from '../store/store.ts';
import { type ReadStored, storedReader } from '../store/stored-value.ts';
import { ofMachine } from '../workers/elsewhere.ts';
import { deleteJob, keepRemoved, moveJob, toJob, updateJob } from './job-rows.ts';
import { fenced, insertClaim, insertSettled, toOpenOccurrence } from './occurrence-rows.ts';

interface SqlLedgerDeps {
  store: Pick<Store, 'db' | 'commit' | 'reportDamage' | 'machine'>;
  clock: { now(): number };
  /** The scheduler that owns the claims. */
  owner: string;
  /** Commits a line for the main session together with statements. */
  tellMain(line: NonNullable<Finish['tellMain']> & { jobId: string }, also: Statement[]): Promise<void>;
}

/** The maximum stored text of a run's end. */
const MAX_TEXT = 2_000;
/** Jobs read per turn of the event loop, which takes a few milliseconds. */
const PAGE = 200;
/** How many taken instants a forced run skips at most. */
const MAX_EVADE = 100;

/**
 * The ledger in SQL, of the jobs that this machine has. Keys and expectations of the database ensure that only one scheduler
 * succeeds.
 */
export class SqlLedger implements Ledger {
  readonly #deps: SqlLedgerDeps;
  readonly #read: ReadStored;

  constructor(deps: SqlLedgerDeps) {
    this.#deps = deps;
    this.#read = storedReader(deps.store);
  }

  async jobs(): Promise<Job[]> {
    const jobs: Job[] = [];
    for (let page = await this.#page(''); page.length > 0; page = await this.#page(page.at(-1)?.job_id ?? '')) {
      jobs.push(...page.flatMap((row) => toJob(row, this.#read) ?? []));
      await nextTurn(); // otherwise the reads would block the event loop
    }
    return jobs;
  }

  #page(afterId: string): Promise<CronJobTable[]> {
    const { db } = this.#deps.store;
    const rows = db.selectFrom('cron_jobs').selectAll().where(ofMachine(this.#deps.store));
    return rows.where('job_id', '>', afterId).orderBy('job_id').limit(PAGE).execute();
  }

  async revisions(): Promise<Map<string, number>> {
    const { store } = this.#deps;
    const own = store.db.selectFrom('cron_jobs').select(['job_id', 'revision']).where(ofMachine(store));
    const rows = await own.execute();
    return new Map(rows.map(({ job_id, revision }) => [job_id, revision]));
  }

  async job(jobId: string): Promise<Job | undefined> {
    const { store } = this.#deps;
    const own = store.db.selectFrom('cron_jobs').selectAll().where(ofMachine(store));
    const row = await own.where('job_id', '=', jobId).executeTakeFirst();
    return row && toJob(row, this.#read);
  }

  async open(): Promise<OpenOccurrence[]> {
    const rows = await this.#open().execute();
    return rows.flatMap((row) => toOpenOccurrence(row, this.#read) ?? []);
  }

  async openOf(jobId: string): Promise<OpenOccurrence | undefined> {
    const row = await this.#open().where('job_id', '=', jobId).executeTakeFirst();
    return row && toOpenOccurrence(row, this.#read);
  }

  #open() {
    const { store } = this.#deps;
    return store.db.selectFrom('cron_occurrences').selectAll().where('ended_ms', 'is', null).where(ofMachine(store));
  }

  change(before: Job, { job, settled, also = [] }: Parameters<Ledger['change']>[1]): Promise<boolean> {
    const nowMs = this.#deps.clock.now();
    const nextRunMs = plannedMs(job, nowMs);
    return this.#commit([
      ...(job ? [updateJob(before, job)] : [keepRemoved(before), deleteJob(before)]),
      ...settled.map((one) => insertSettled(before.id, one, { nowMs, nextRunMs })),
      ...also,
    ]);
  }

  async advance(job: Job, { settled, claim, job: after }: Advance): Promise<Claim | 'settled' | undefined> {
    const { owner, clock, store } = this.#deps;
    const { machine } = store;
    const nowMs = clock.now();
    const nextRunMs = plannedMs(after, nowMs);
    const isDone = await this.#commit([
      moveJob(job, after),
      ...settled.map((one) => insertSettled(job.id, one, { nowMs, nextRunMs })),
      ...(claim ? [insertClaim({ ...claim, jobId: job.id, trigger: 'schedule', owner, machine })] : []),
      ...(claim?.keep?.(claim.scheduledMs) ?? []),
    ]);
    if (!isDone) return undefined;
    return claim ? claimOf(job, { ...claim, trigger: 'schedule' }) : 'settled';
  }

  async force(job: Job, { atMs, leaseMs, keep }: Parameters<Ledger['force']>[1]): Promise<Claim | undefined> {
    const { owner, store } = this.#deps;
    for (let scheduledMs = atMs; scheduledMs < atMs + MAX_EVADE; scheduledMs += 1) {
      const claim = { scheduledMs, leaseMs, trigger: 'forced' as const };
      const insert = insertClaim({ ...claim, jobId: job.id, owner, machine: store.machine });
      if (await this.#commit([insert, ...(keep?.(scheduledMs) ?? [])])) return claimOf(job, claim);
      if (await this.openOf(job.id)) return undefined;
    }
    return undefined;
  }

  async takeOver(...[occurrence, { leaseMs, keep }]: Parameters<Ledger['takeOver']>): Promise<Claim | undefined> {
    const { jobId, scheduledMs, trigger, epoch, attempts, status, spentMs } = occurrence;
    const row = { owner: this.#deps.owner, epoch: epoch + 1, lease_ms: leaseMs, retry_ms: null, spent_ms: spentMs };
    const taken = status === 'retrying' ? { ...row, status: 'claimed' as const } : row;
    const isTaken = await this.#commit([
      statementOf(fenced(occurrence).where('status', '=', status).set(taken), 1),
      ...(keep?.(scheduledMs) ?? []),
    ]);
    return isTaken ? { jobId, scheduledMs, trigger, epoch: epoch + 1, attempts } : undefined;
  }

  /** Not synced to disk at once: a lease that is lost with the machine is not needed. */
  renew(claim: Claim, { leaseMs, spentMs }: Parameters<Ledger['renew']>[1]): Promise<boolean> {
    const row = fenced(claim).set({ lease_ms: leaseMs, spent_ms: spentMs });
    return tookEffect(this.#deps.store.commit({ statements: [statementOf(row, 1)] }));
  }

  postpone(claim: Claim, { retryMs, error, before, job }: Parameters<Ledger['postpone']>[1]): Promise<boolean> {
    const tries = claim.attempts + 1;
    const later = fenced(claim).set({ status: 'retrying', attempts: tries, retry_ms: retryMs, error: short(error) });
    return this.#commit([statementOf(later, 1), moveJob(before, job)]);
  }

  finish(claim: Claim, end: Finish): Promise<boolean> {
    const { status, error, summary, endedMs, startedMs, durationMs, before, job, settled, tellMain } = end;
    const nextRunMs = plannedMs(job, endedMs);
    const row = fenced(claim).set({
      status,
      ended_ms: endedMs,
      lease_ms: null,
      next_run_ms: nextRunMs ?? null,
      removed_job_json: null,
      duration_ms: durationMs ?? null,
      error: short(error) ?? null,
      summary: short(summary) ?? null,
      ...(startedMs !== undefined && { started_ms: startedMs }),
    });
    const statements = [
      statementOf(row, 1),
      ...(before ? [job ? moveJob(before, job) : deleteJob(before)] : []),
      ...(settled ?? []).map((one) => insertSettled(claim.jobId, one, { nowMs: endedMs, nextRunMs })),
    ];
    if (!tellMain) return this.#commit(statements);
    return tookEffect(this.#deps.tellMain({ ...tellMain, jobId: claim.jobId }, statements));
  }

  rewind(job: Job, after: Job & { handledMs: number }): Promise<boolean> {
    return this.#commit([moveJob(job, after), ...forget(job.id, after.handledMs)]);
  }

  async recorded(jobId: string, afterMs: number, { butMissed }: { butMissed: boolean }): Promise<ReadonlySet<number>> {
    let query = this.#deps.store.db
      .selectFrom('cron_occurrences')
      .select('scheduled_ms')
      .where('job_id', '=', jobId)
      .where('scheduled_ms', '>', afterMs);
    if (butMissed)
      query = query.where(({ or, eb }) => or([eb('status', 'not in', NOT_RUN), eb('started_ms', 'is not', null)]));
    return new Set((await query.execute()).map(({ scheduled_ms }) => scheduled_ms));
  }

  /** Synced to disk before the run has any effect; false when an expectation failed. */
  #commit(statements: Statement[]): Promise<boolean> {
    return tookEffect(this.#deps.store.commit({ statements, durable: true }));
  }
}

const NOT_RUN = ['missed', 'skipped'] as const;

/** Removes records of missed instants that are in the future again. A row for several instants keeps the past ones. */
const forget = (jobId: string, nowMs: number): Statement[] => [
  statementOf(
    build
      .deleteFrom('cron_occurrences')
      .where('job_id', '=', jobId)
      .where('scheduled_ms', '>', nowMs)
      .where('status', 'in', NOT_RUN)
      .where('started_ms', 'is', null),
  ),
  statementOf(
    build
      .updateTable('cron_occurrences')
      .set({ through_ms: nowMs, count: null })
      .where('job_id', '=', jobId)
      .where('scheduled_ms', '<=', nowMs)
      .where('through_ms', '>', nowMs)
      .where('status', 'in', NOT_RUN),
  ),
];

const claimOf = (
  { id: jobId }: Job,
  { scheduledMs, trigger }: { scheduledMs: number; trigger: Claim['trigger'] },
): Claim => ({ jobId, scheduledMs, trigger, epoch: 1, attempts: 0 });

const short = (text: string | undefined): string | undefined => text?.slice(0, MAX_TEXT);
