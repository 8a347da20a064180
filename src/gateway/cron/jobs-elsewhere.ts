import { setImmediate as nextTurn } from 'node:timers/promises';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Job } from '../../cron/jobs/job.ts';
import { plannedMs } from '../../cron/jobs/job-book.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import type { CronJobTable, CronOccurrenceTable } from '../store/schema/cron-schema.ts';
import type { Store } from '../store/store.ts';
import { type ReadStored, storedReader } from '../store/stored-value.ts';
import { isMoving, ofOthers, requireHere } from '../workers/elsewhere.ts';
import { toJob } from './job-rows.ts';

/** The jobs of other machines, as the database has them. */
export interface JobsElsewhere {
  /** All of them, or only this one. */
  read(jobId?: string): Promise<FarJobs>;
  /** For a job that the scheduler does not know: throws Elsewhere if another machine has it, UNAVAILABLE while it is taken over. */
  requireHere(jobId: string): Promise<void>;
  count(): Promise<number>;
  /** How many of them are enabled, by the ids of their machines. */
  enabled(): Promise<ReadonlyMap<string | null, number>>;
}

interface JobsElsewhereDeps {
  store: Pick<Store, 'db' | 'machine' | 'noteGrowth' | 'reportDamage'>;
  /** Absent: no other daemon can use the store. */
  shared?: Pick<SharedStore, 'liveWorkers'> | undefined;
  clock: { now(): number };
}

/** Jobs per turn of the event loop. */
const AT_ONCE = 200;

export function createJobsElsewhere({ store, shared, clock }: JobsElsewhereDeps): JobsElsewhere {
  const { db } = store;
  const read = storedReader(store);
  const canBe = store.noteGrowth !== undefined;
  const jobs = () => db.selectFrom('cron_jobs').where(ofOthers(store));
  const open = () => db.selectFrom('cron_occurrences').selectAll().where('ended_ms', 'is', null).where(ofOthers(store));
  return {
    async read(jobId) {
      if (!canBe) return NO_JOBS;
      const asked = jobId === undefined ? jobs() : jobs().where('job_id', '=', jobId);
      const rows = await asked.selectAll().orderBy('job_id').execute();
      if (rows.length === 0) return NO_JOBS;
      const ran = await (jobId === undefined ? open() : open().where('job_id', '=', jobId)).execute();
      const alive = await shared?.liveWorkers();
      const known = await knownIn(rows, read);
      return new FarJobs(known, { open: ran, alive, nowMs: clock.now() });
    },
    async requireHere(jobId) {
      if (!canBe) return;
      const named = db.selectFrom('cron_jobs').select('machine').where('job_id', '=', jobId);
      if (requireHere(await named.executeTakeFirst(), store)) throw arriving();
    },
    async count() {
      if (!canBe) return 0;
      const { many } = await jobs()
        .select(({ fn }) => fn.countAll().as('many'))
        .executeTakeFirstOrThrow();
      return Number(many);
    },
    async enabled() {
      if (!canBe) return new Map();
      const counted = jobs().select(({ fn }) => ['machine', fn.countAll().as('many')]);
      const rows = await counted.where('enabled', '=', 1).groupBy('machine').execute();
      return new Map(rows.map(({ machine, many }) => [machine, Number(many)]));
    },
  };
}

async function knownIn(rows: readonly CronJobTable[], read: ReadStored): Promise<Known[]> {
  const known: Known[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn(); // otherwise many would block the event loop
    const job = toJob(row, read);
    if (job) known.push({ job, machine: row.machine });
  }
  return known;
}

interface Known {
  job: Job;
  /** The worker that has it; null: the active daemon. */
  machine: string | null;
}

interface Circumstances {
  open: readonly CronOccurrenceTable[];
  /** The workers whose leases have not ended. */
  alive: ReadonlySet<string> | undefined;
  nowMs: number;
}

/** Jobs of other machines, with what the database tells of their progress. */
export class FarJobs {
  readonly jobs: readonly Job[];
  readonly #known: ReadonlyMap<string, Known>;
  readonly #open: ReadonlyMap<string, CronOccurrenceTable>;
  readonly #at: Circumstances;

  constructor(known: readonly Known[], at: Circumstances) {
    this.jobs = known.map(({ job }) => job);
    this.#known = new Map(known.map((one) => [one.job.id, one]));
    this.#open = new Map(at.open.map((row) => [row.job_id, row]));
    this.#at = at;
  }

  has(jobId: string): boolean {
    return this.#known.has(jobId);
  }

  /** The worker that has it; null: the active daemon. */
  machineOf(jobId: string): string | null {
    return this.#known.get(jobId)?.machine ?? null;
  }

  /** The machine that the job waits for, because it has gone and the job cannot go on elsewhere. */
  missingOf(jobId: string): string | undefined {
    const machine = this.machineOf(jobId);
    const isThere = machine === null || isMoving(machine) || this.#at.alive?.has(machine) !== false;
    return isThere ? undefined : machine;
  }

  nextRunMs(jobId: string): number | undefined {
    const open = this.#open.get(jobId);
    if (open?.status === 'retrying') return open.retry_ms ?? undefined;
    return plannedMs(this.#known.get(jobId)?.job, this.#at.nowMs);
  }

  runningSince(jobId: string): number | undefined {
    const open = this.#open.get(jobId);
    return open?.status === 'started' ? (open.started_ms ?? undefined) : undefined;
  }
}

const arriving = () =>
  new GatewayError('UNAVAILABLE', 'The job is being taken over from another machine; try again', {
    retryAfterMs: 1_000,
  });

const NO_JOBS = new FarJobs([], { open: [], alive: undefined, nowMs: 0 });
