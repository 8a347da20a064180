import { insertJob } from '../gateway/cron/job-rows.ts';
import { startStatements } from '../gateway/cron/occurrence-rows.ts';
import { SqlLedger } from '../gateway/cron/sql-ledger.ts';
import type { SqliteStore } from '../gateway/store/sqlite-store.ts';
import { UnitRefused } from '../gateway/store/store.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../testing/temp-store.ts';
import type { Begun } from './executor.ts';
import type { Job } from './jobs/job.ts';
import type { Claim, Outcome } from './occurrence.ts';
import { Scheduler, type SchedulerDeps } from './scheduler.ts';

/** A run that has begun; call `end` to end it. */
export interface BegunRun {
  job: Job;
  claim: Claim;
  end(outcome: Outcome): void;
  stoppedFor: string[];
}

/** Schedulers over a real store and a clock that tests advance. */
export async function schedulerFixture() {
  const store = await tempStore();
  const clock = fakeClock(1_000_000);
  const begun: BegunRun[] = [];
  const events: string[] = [];
  const settings = { enabled: true, maxConcurrentRuns: 2 };
  /** `begin`: starts fail, and may be retried. `isDeaf`: runs ignore their stop. */
  const faults = { commit: false, begin: false, isDeaf: false };
  const commit: SqliteStore['commit'] = (unit) =>
    faults.commit ? Promise.reject(new Error('cannot write to the disk')) : store.commit(unit);
  let stop = new AbortController();

  function create(owner: string, more: Partial<SchedulerDeps> = {}): Scheduler {
    const ledger = new SqlLedger({
      ...{ store: { db: store.db, commit, reportDamage: store.reportDamage, machine: store.machine }, clock, owner },
      async tellMain(_line, also) {
        await commit({ statements: also, durable: true });
      },
    });
    return new Scheduler({
      ...{ ledger, clock, owner, settings, log: recordingLog(), isAlone: true },
      executor: {
        async begin(job, claim) {
          const startedMs = clock.now();
          try {
            if (faults.begin) throw new Error('no room');
            await commit({
              statements: startStatements(claim, { owner, nowMs: startedMs, runId: `run-${begun.length}` }),
            });
          } catch (error) {
            if (error instanceof UnitRefused) return undefined;
            throw Object.assign(new Error('not now', { cause: error }), { retryable: true });
          }
          return beginRun(begun, { job, claim, startedMs, faults });
        },
        resume: async (job, started) =>
          beginRun(begun, { job, claim: started, startedMs: started.startedMs ?? 0, faults }),
      },
      publish: ({ action, jobId }) => void events.push(`${action} ${jobId}`),
      ...more,
    });
  }

  return {
    ...{ store, clock, begun, events, settings, faults, create },
    ...historyIn(store),
    async start(owner: string, jobs: readonly Job[], more: Partial<SchedulerDeps> = {}): Promise<Scheduler> {
      for (const job of jobs) await store.commit({ statements: [insertJob(job)] });
      const scheduler = create(owner, more);
      await scheduler.load();
      void scheduler.run(stop.signal);
      await settle();
      return scheduler;
    },
    /** Runs that it began continue only if another scheduler adopts them. */
    kill(): void {
      stop.abort();
      stop = new AbortController();
    },
    settle,
    async pass(ms: number): Promise<void> {
      for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
        await clock.advance(Math.min(leftMs, STEP_MS));
        await settle();
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await settle();
      await store.close();
    },
  };
}

/** The ledger's records, in order. */
function historyIn({ db }: SqliteStore) {
  const read = () => db.selectFrom('cron_occurrences').selectAll().orderBy('scheduled_ms').execute();
  return {
    async rows(): Promise<[jobId: string, atMs: number, status: string][]> {
      return (await read()).map(({ job_id, scheduled_ms, status }) => [job_id, scheduled_ms, status]);
    },
    /** The reasons of all runs that did not succeed. */
    async reasons(jobId: string): Promise<[atMs: number, status: string, error: string | null][]> {
      const ofJob = (await read()).filter(({ job_id }) => job_id === jobId);
      return ofJob.map(({ scheduled_ms, status, error }) => [scheduled_ms, status, error]);
    },
  };
}

/** No timer of a scheduler is shorter, except those for due jobs. */
const STEP_MS = 1_000;

/** Waits until everything possible at this time is done. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await new Promise(setImmediate);
}

interface Beginning {
  job: Job;
  claim: Claim;
  startedMs: number;
  faults: { isDeaf: boolean };
}

function beginRun(begun: BegunRun[], { job, claim, startedMs, faults }: Beginning): Begun {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const stoppedFor: string[] = [];
  begun.push({ job, claim, end: resolve, stoppedFor });
  return {
    startedMs,
    ended: promise,
    stop(reason) {
      stoppedFor.push(reason);
      if (!faults.isDeaf) resolve({ status: 'error', error: reason });
    },
  };
}
