import type { CronEvent } from '../../protocol/cron.ts';
import { Scheduler } from '../../src/cron/scheduler.ts';
import { CronJobs } from '../../src/gateway/cron/cron-jobs.ts';
import { createJobsElsewhere } from '../../src/gateway/cron/jobs-elsewhere.ts';
import type { Store } from '../../src/gateway/store/store.ts';
import type { Life } from './life.ts';
import type { SimClock } from './sim-clock.ts';
import type { SimRuns } from './sim-executor.ts';
import { SimLedger, type Writes } from './sim-ledger.ts';

/** One process with a scheduler, until it is killed. */
export interface SimProcess {
  owner: string;
  life: Life;
  scheduler: Scheduler;
  jobs: CronJobs;
}

export interface ProcessDeps {
  clock: SimClock;
  store: Pick<Store, 'db' | 'commit' | 'reportDamage' | 'machine'>;
  runs: SimRuns;
  writes: Writes;
  settings: { enabled: boolean; maxConcurrentRuns: number };
  isAlone: boolean;
  newId(kind: string): string;
  publish(event: CronEvent): void;
  /** The process stopped with an error, which a scheduler never should. */
  onCrash(error: unknown): void;
}

export function startProcess(deps: ProcessDeps, { owner, life }: { owner: string; life: Life }): SimProcess {
  const { store, settings, isAlone, publish, newId } = deps;
  const clock = deps.clock.clockOf(life);
  const ledger = new SimLedger({ store, clock, owner, writes: deps.writes });
  const scheduler = new Scheduler({
    ledger: life.wrap(ledger),
    executor: life.wrap(deps.runs.executorOf({ owner, life })),
    ...{ clock, owner, isAlone, settings, publish },
    log: QUIET,
  });
  const jobs = new CronJobs({
    toolbox: { definitions: () => [] },
    channels: { all: [], byName: () => undefined },
    store: life.wrap({ commit: store.commit, machine: store.machine }),
    elsewhere: createJobsElsewhere({ store, clock }),
    ids: { id: newId },
    ...{ scheduler, clock, hostTimeZone: 'Europe/Berlin', publish },
  });
  scheduler
    .load()
    .then(() => scheduler.run(NEVER_STOPPED))
    .catch(deps.onCrash);
  return { owner, life, scheduler, jobs };
}

const NEVER_STOPPED = new AbortController().signal;

const silent = (): void => undefined;
const QUIET = { debug: silent, info: silent, warn: silent, error: silent };
