import type { Begun, Executor } from '../../src/cron/executor.ts';
import type { Job } from '../../src/cron/jobs/job.ts';
import type { Claim, OpenOccurrence, Outcome } from '../../src/cron/occurrence.ts';
import { isClaimLost } from '../../src/gateway/cron/create-executor.ts';
import { startStatements } from '../../src/gateway/cron/occurrence-rows.ts';
import type { Store } from '../../src/gateway/store/store.ts';
import type { Random } from '../checker/random.ts';
import type { SimRun } from './evidence.ts';
import type { Life } from './life.ts';
import type { SimClock } from './sim-clock.ts';
import type { Writes } from './sim-ledger.ts';

/** How the runs of a job behave. */
export interface Nature {
  meanMs: number;
  failRate: number;
}

/** The process that works on a run. */
interface Holder {
  owner: string;
  life: Life;
}

/** A run as the journal records it: it outlives its process. */
interface JournalledRun {
  seen: SimRun;
  workMs: number;
  holder: Holder;
}

interface RunsDeps {
  clock: SimClock;
  writes: Writes;
  store: Pick<Store, 'db' | 'commit' | 'reportDamage' | 'machine'>;
  random: Random;
  natureOf(jobId: string): Nature;
}

/** The journal of all runs, and the work on them by any process. */
export class SimRuns {
  readonly #deps: RunsDeps;
  readonly #journal = new Map<string, JournalledRun>();
  /** From now on every run succeeds at once. */
  isCalm = false;

  constructor(deps: RunsDeps) {
    this.#deps = deps;
  }

  get seen(): SimRun[] {
    return [...this.#journal.values()].map(({ seen }) => seen);
  }

  executorOf(holder: Holder): Executor {
    return {
      begin: (job, claim) => this.#begin(job, claim, holder),
      resume: async (_job, started) => this.#resume(started, holder),
    };
  }

  async #begin(job: Job, claim: Claim, holder: Holder): Promise<Begun | undefined> {
    const { clock, random } = this.#deps;
    if (!this.isCalm && random.chance(0.01)) throw Object.assign(new Error('the queue is full'), { retryable: true });
    const runId = `run-${this.#journal.size + 1}-${random.int(0, 1e9)}`;
    if (!(await this.#recordStart(claim, holder, runId))) return undefined;
    const { jobId, scheduledMs, trigger, attempts } = claim;
    const { meanMs, failRate } = this.isCalm ? { meanMs: 0, failRate: 0 } : this.#deps.natureOf(job.id);
    const run: JournalledRun = {
      seen: {
        ...{ runId, jobId, scheduledMs, trigger, attempt: attempts + 1, owner: holder.owner },
        ...{ maxRunMs: job.maxRunMs, stoppedMs: undefined },
        ...{ startMs: undefined, endMs: undefined, holds: [], outcome: random.chance(failRate) ? 'error' : 'ok' },
      },
      workMs: Math.round(-meanMs * Math.log(1 - random.fraction())),
      holder,
    };
    this.#journal.set(runId, run); // with the commit, so that only the start itself is separate
    const startedMs = clock.now();
    await holder.life.step();
    if (holder.life.isOver) return undefined;
    // The process was stopped between the start and the work, and the run was taken over.
    return run.holder === holder ? this.#work(run, startedMs) : { startedMs, ended: SUPERSEDED, stop: () => undefined };
  }

  /** False if another process has the claim. */
  async #recordStart(claim: Claim, { owner }: Holder, runId: string): Promise<boolean> {
    const { clock, store, writes } = this.#deps;
    const statements = startStatements(claim, { owner, nowMs: clock.now(), runId, sessionKey: 'sim' });
    const { jobId, scheduledMs, epoch } = claim;
    try {
      await writes.watch(
        store,
        ({ commit }) => commit({ statements, durable: true }),
        () => [{ what: 'start', jobId, scheduledMs, epoch, owner }],
      );
      return true;
    } catch (error) {
      if (isClaimLost(error)) return false;
      throw error;
    }
  }

  #resume({ runId, startedMs = 0 }: OpenOccurrence, holder: Holder): Begun | undefined {
    const run = this.#journal.get(runId ?? '');
    if (!run) return undefined;
    run.holder = holder;
    if (this.isCalm) run.workMs = 0;
    return this.#work(run, startedMs);
  }

  #work(run: JournalledRun, startedMs: number): Begun {
    const { clock } = this.#deps;
    const { seen, holder } = run;
    seen.startMs ??= clock.trueMs;
    const hold: SimRun['holds'][number] = { owner: holder.owner, fromMs: clock.trueMs, toMs: undefined };
    seen.holds.push(hold);
    const end = Promise.withResolvers<Outcome>();
    const finish = (outcome: Outcome) => {
      hold.toMs ??= clock.trueMs;
      if (run.holder === holder) seen.endMs ??= clock.trueMs;
      end.resolve(run.holder === holder ? outcome : SUPERSEDED);
    };
    const said: Outcome =
      seen.outcome === 'ok' ? { status: 'ok', summary: 'done' } : { status: 'error', error: 'no luck' };
    if (seen.endMs !== undefined) finish(said);
    else
      void clock
        .clockOf(holder.life)
        .sleep(run.workMs, new AbortController().signal)
        .then(() => finish(said));
    return {
      startedMs,
      ended: end.promise,
      stop(reason) {
        if (run.holder === holder && seen.endMs === undefined) {
          Object.assign(seen, { outcome: 'error', stoppedMs: clock.trueMs });
        }
        finish({ status: 'error', error: reason });
      },
    };
  }
}

/** The journal rejects writes from a process whose run was taken over. */
const SUPERSEDED = Promise.resolve<Outcome>({ status: 'interrupted', error: 'another process works on it' });
