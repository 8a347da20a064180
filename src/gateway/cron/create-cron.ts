import type { CronEvent } from '../../../protocol/cron.ts';
import type { Toolbox } from '../../agent/tools/toolbox.ts';
import type { Clock } from '../../clock.ts';
import { Scheduler } from '../../cron/scheduler.ts';
import type { Ids } from '../../ids.ts';
import type { LiveSettings } from '../live-settings.ts';
import { jobKeyOf } from '../workstreams/session-keys.ts';
import { createExecutor, type ExecutorDeps } from './create-executor.ts';
import { CronJobs } from './cron-jobs.ts';
import { forgetOccurrences } from './forget-occurrences.ts';
import { createOccurrences, type Occurrences } from './occurrences.ts';
import { SqlLedger } from './sql-ledger.ts';

interface CronDeps extends Omit<ExecutorDeps, 'owner' | 'clock'> {
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
  scheduler: Scheduler;
  occurrences: Occurrences;
  /** Resolves when the jobs are loaded; loading happens once, in parallel with the start. */
  loaded(): Promise<void>;
  /** Runs due jobs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createCron(deps: CronDeps): Cron {
  const { workstreams, runs, commands, channels, viewerOf, systemEvents, heartbeats, store, live, clock, ids, log } =
    deps;
  const { toolbox, hostTimeZone, publish } = deps;
  const owner = ids.id('scheduler');
  const ledger = new SqlLedger({
    store,
    clock,
    owner,
    async tellMain({ text, wakes, rights, taint, jobId }, also) {
      const principal = jobKeyOf(jobId);
      await systemEvents.add(text, { rights: rights ?? 'approve', taint, also, ...(wakes && { wakes: principal }) });
      if (wakes) heartbeats.wake(principal);
    },
  });
  const executor = createExecutor({
    workstreams,
    runs,
    commands,
    channels,
    viewerOf,
    systemEvents,
    heartbeats,
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
    isAlone: true, // one daemon at a time uses the home
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
    jobs: new CronJobs({ store, scheduler, clock, ids, toolbox, channels, hostTimeZone, publish }),
    scheduler,
    occurrences: createOccurrences(store),
    loaded,
    async run(signal) {
      await loaded();
      log.info({ jobs: scheduler.jobCount }, 'loaded the scheduled jobs');
      await Promise.all([scheduler.run(signal), forgetOccurrences({ store, live, clock, log }, signal)]);
    },
  };
}
