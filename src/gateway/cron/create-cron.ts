import type { CronEvent } from '../../../protocol/cron.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { Clock } from '../../clock.ts';
import { Scheduler } from '../../cron/scheduler.ts';
import type { Ids } from '../../ids.ts';
import type { LiveSettings } from '../live-settings.ts';
import type { SharedStore } from '../store/daemon-store.ts';
import type { Store } from '../store/store.ts';
import type { Heartbeats } from '../wake/heartbeats.ts';
import { createMainSession, type MainSession } from '../wake/main-session.ts';
import type { SystemEvents } from '../wake/system-events.ts';
import { jobKeyOf } from '../workstreams/session-keys.ts';
import { createExecutor, type ExecutorDeps } from './create-executor.ts';
import { CronJobs } from './cron-jobs.ts';
import { forgetOccurrences } from './forget-occurrences.ts';
import { createJobsElsewhere, type JobsElsewhere } from './jobs-elsewhere.ts';
import { createOccurrences, type Occurrences } from './occurrences.ts';
import { SqlLedger } from './sql-ledger.ts';

interface CronDeps extends Omit<ExecutorDeps, 'owner' | 'clock' | 'main' | 'store'> {
  store: Store;
  /** Absent: no other daemon can use the store. */
  shared: Pick<SharedStore, 'liveWorkers'> | undefined;
  systemEvents: Pick<SystemEvents, 'add'>;
  heartbeats: Pick<Heartbeats, 'wake'>;
  clock: Clock;
  live: Pick<LiveSettings, 'cron'>;
  ids: Ids;
  toolbox: Pick<Toolbox, 'definitions'>;
  /** The zone of this machine, an IANA name. */
  hostTimeZone: string;
  publish(event: CronEvent): void;
}

/** Scheduled jobs with all their parts. */
export interface Cron {
  jobs: CronJobs;
  /** Of the jobs that this machine has. */
  scheduler: Scheduler;
  elsewhere: JobsElsewhere;
  occurrences: Occurrences;
  main: MainSession;
  /** Resolves when the jobs are loaded; loading happens once, in parallel with the start. */
  loaded(): Promise<void>;
  /** Runs due jobs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createCron(deps: CronDeps): Cron {
  const { workstreams, runs, commands, channels, viewerOf, systemEvents, heartbeats, store, live, clock, ids, log } =
    deps;
  const { toolbox, shared, hostTimeZone, publish } = deps;
  const main = createMainSession({ store, systemEvents, heartbeats, ids, clock });
  const elsewhere = createJobsElsewhere({ store, shared, clock });
  const owner = ids.id('scheduler');
  const ledger = new SqlLedger({
    store,
    clock,
    owner,
    tellMain: ({ text, wakes, rights, taint, jobId }, also) =>
      main.tell(text, { rights: rights ?? 'approve', taint, also, ...(wakes && { wakes: jobKeyOf(jobId) }) }),
  });
  const executor = createExecutor({
    workstreams,
    runs,
    commands,
    channels,
    viewerOf,
    main,
    store,
    clock,
    log,
    owner,
  });
  const scheduler = new Scheduler({
    ledger,
    executor,
    owner,
    publish,
    clock,
    log,
    isAlone: true, // one daemon at a time has the jobs of this machine
    settings: {
      get enabled() {
        return live.cron.enabled;
      },
      get maxConcurrentRuns() {
        return live.cron.maxConcurrentRuns;
      },
    },
  });
  let loading: Promise<void> | undefined;
  const loaded = () => {
    loading ??= scheduler.load();
    return loading;
  };
  return {
    jobs: new CronJobs({ store, scheduler, elsewhere, clock, ids, toolbox, channels, hostTimeZone, publish }),
    scheduler,
    elsewhere,
    occurrences: createOccurrences(store),
    main,
    loaded,
    async run(signal) {
      await loaded();
      log.info({ jobs: scheduler.jobCount }, 'loaded the scheduled jobs');
      const forgetting = store.machine === null && forgetOccurrences({ store, live, clock, log }, signal); // those of all
      await Promise.all([scheduler.run(signal), forgetting]);
    },
  };
}
