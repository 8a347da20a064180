import type { Job } from '../../src/cron/jobs/job.ts';
import type { Advance, Finish, Ledger } from '../../src/cron/ledger.ts';
import type { Claim } from '../../src/cron/occurrence.ts';
import { SqlLedger } from '../../src/gateway/cron/sql-ledger.ts';
import type { Statement, Store } from '../../src/gateway/store/store.ts';
import type { CronWrite } from './evidence.ts';
import type { SimClock } from './sim-clock.ts';

type Committing = Pick<Store, 'db' | 'commit' | 'reportDamage' | 'machine'>;

/** Every write to an occurrence with its process; the ledger keeps only the latest state. */
export class Writes {
  readonly #clock: Pick<SimClock, 'trueMs'>;
  readonly #noted: { order: number; write: CronWrite }[] = [];
  #commits = 0;

  constructor(clock: Pick<SimClock, 'trueMs'>) {
    this.#clock = clock;
  }

  /** In the order of their commits. */
  get all(): CronWrite[] {
    return this.#noted.toSorted((a, b) => a.order - b.order).map(({ write }) => write);
  }

  /** Calls `work` with a separate store, and records the result of `told` at the position of its last commit. */
  async watch<T>(
    store: Committing,
    work: (store: Committing) => Promise<T>,
    told: (answer: T) => Omit<CronWrite, 'atMs'>[],
  ): Promise<T> {
    let order = 0;
    const answer = await work({
      db: store.db,
      reportDamage: store.reportDamage,
      machine: store.machine,
      commit: (unit) => {
        this.#commits += 1;
        order = this.#commits;
        return store.commit(unit);
      },
    });
    const atMs = this.#clock.trueMs;
    for (const write of told(answer)) this.#noted.push({ order, write: { ...write, atMs } });
    return answer;
  }
}

interface SimLedgerDeps {
  store: Committing;
  clock: { now(): number };
  owner: string;
  writes: Writes;
}

/** The real ledger, with its writes recorded. */
export class SimLedger extends SqlLedger implements Ledger {
  readonly #deps: SimLedgerDeps;

  constructor(deps: SimLedgerDeps) {
    super({ ...deps, tellMain: (_line, also) => commitAlone(deps.store, also) });
    this.#deps = deps;
  }

  override advance(job: Job, step: Advance): ReturnType<SqlLedger['advance']> {
    return this.#watch(
      (ledger) => ledger.advance(job, step),
      (answer) => [
        ...(answer === undefined ? [] : this.#settled(job.id, step.settled)),
        ...(typeof answer === 'object' ? [this.#of('claim', answer)] : []),
      ],
    );
  }

  override change(...given: Parameters<SqlLedger['change']>): Promise<boolean> {
    const [{ id }, { settled }] = given;
    return this.#watch(
      (ledger) => ledger.change(...given),
      (isDone) => (isDone ? this.#settled(id, settled) : []),
    );
  }

  override force(...given: Parameters<SqlLedger['force']>): ReturnType<SqlLedger['force']> {
    return this.#watch(
      (ledger) => ledger.force(...given),
      (claim) => (claim ? [this.#of('claim', claim)] : []),
    );
  }

  override takeOver(...given: Parameters<SqlLedger['takeOver']>): ReturnType<SqlLedger['takeOver']> {
    return this.#watch(
      (ledger) => ledger.takeOver(...given),
      (claim) => (claim ? [this.#of('claim', claim)] : []),
    );
  }

  override renew(...given: Parameters<SqlLedger['renew']>): Promise<boolean> {
    return this.#watch(
      (ledger) => ledger.renew(...given),
      (isDone) => (isDone ? [this.#of('renew', given[0])] : []),
    );
  }

  override postpone(...given: Parameters<SqlLedger['postpone']>): Promise<boolean> {
    return this.#watch(
      (ledger) => ledger.postpone(...given),
      (isDone) => (isDone ? [this.#of('postpone', given[0])] : []),
    );
  }

  override finish(claim: Claim, end: Finish): Promise<boolean> {
    return this.#watch(
      (ledger) => ledger.finish(claim, end),
      (isDone) => (isDone ? [this.#of('end', claim), ...this.#settled(claim.jobId, end.settled ?? [])] : []),
    );
  }

  #watch<T>(work: (ledger: SqlLedger) => Promise<T>, told: (answer: T) => Omit<CronWrite, 'atMs'>[]): Promise<T> {
    const { store, clock, owner, writes } = this.#deps;
    const open = (watched: Committing) =>
      new SqlLedger({ store: watched, clock, owner, tellMain: (_line, also) => commitAlone(watched, also) });
    return writes.watch(store, (watched) => work(open(watched)), told);
  }

  #of(what: CronWrite['what'], { jobId, scheduledMs, epoch }: Claim): Omit<CronWrite, 'atMs'> {
    return { what, jobId, scheduledMs, epoch, owner: this.#deps.owner };
  }

  #settled(jobId: string, settled: Advance['settled']): Omit<CronWrite, 'atMs'>[] {
    const { owner } = this.#deps;
    return settled.map(({ fromMs }) => ({ what: 'settle', jobId, scheduledMs: fromMs, epoch: 0, owner }));
  }
}

async function commitAlone(store: Committing, statements: Statement[]): Promise<void> {
  await store.commit({ statements, durable: true });
}
