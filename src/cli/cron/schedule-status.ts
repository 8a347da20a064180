import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { CronSwitch } from '../../../protocol/cron.ts';
import { type Here, toDistance, toLocal } from '../local-time.ts';
import { readJobs } from './find-job.ts';
import { jobName } from './job-table.ts';
import { findTroubles, type JobTroubles } from './job-troubles.ts';

/** The state of the schedule, for `headgate status`. */
export interface ScheduleStatus extends JobTroubles {
  enabled: boolean;
  /** What switched it off. */
  switchedOffBy: readonly CronSwitch[];
  jobs: number;
  nextWakeAtMs: number | null;
  /** The job that is due then. */
  next: string | undefined;
}

export async function readScheduleStatus(client: Pick<GatewayClient, 'call'>): Promise<ScheduleStatus> {
  const [{ enabled, switchedOffBy = [], jobs: count, nextWakeAtMs }, jobs] = await Promise.all([
    client.call('cron.status', { extended: true }),
    readJobs(client),
  ]);
  const next = jobs.find(({ state }) => nextWakeAtMs !== null && state.nextRunAtMs === nextWakeAtMs);
  return { enabled, switchedOffBy, jobs: count, nextWakeAtMs, next: next && jobName(next), ...findTroubles(jobs) };
}

/** `3 jobs, the next "mail" Thu 2026-12-24 18:00 (in 3 h)`. */
export function toScheduleLine(
  { enabled, switchedOffBy, jobs, nextWakeAtMs, next }: ScheduleStatus,
  here: Here,
): string {
  const count = `${jobs} job${jobs === 1 ? '' : 's'}`;
  if (!enabled) return `${count}, switched off (${toSwitches(switchedOffBy)})`;
  if (nextWakeAtMs === null) return `${count}, none due`;
  const name = next === undefined ? '' : ` "${next}"`;
  return `${count}, the next${name} ${toLocal(nextWakeAtMs, here)} (${nextWakeAtMs > here.nowMs ? toDistance(nextWakeAtMs, here.nowMs) : 'due'})`;
}

const SWITCHES: Record<CronSwitch, string> = {
  'cron.enabled': 'cron.enabled in config.json',
  HEADGATE_SKIP_CRON: "HEADGATE_SKIP_CRON in the daemon's environment",
};

/** The switches that keep schedules from running, in words. */
export const toSwitches = (by: readonly CronSwitch[]): string => by.map((one) => SWITCHES[one]).join(' and ');
