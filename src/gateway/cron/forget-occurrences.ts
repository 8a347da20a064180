import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { dailyWhileSteady } from '../../timing/steady-time.ts';
import type { CronSettings } from '../live-settings.ts';
import { build, statementOf } from '../store/statements.ts';
import type { Statement, Store } from '../store/store.ts';

interface ForgetDeps {
  store: Pick<Store, 'commit'>;
  clock: Clock;
  log: Log;
  live: { cron: Pick<CronSettings, 'retentionDays'> };
}

/** Per job, because a job that runs every second would fill the disk. */
const MAX_PER_JOB = 2_000;
const DAY_MS = 86_400_000;

/** Removes records that are too old or too many, daily while the clock does not jump. */
export const forgetOccurrences = ({ store, clock, log, live }: ForgetDeps, signal: AbortSignal): Promise<void> =>
  dailyWhileSteady(clock, signal, async () => {
    const beforeMs = clock.now() - live.cron.retentionDays * DAY_MS;
    await store.commit({ statements: [forgetOld(beforeMs), FORGET_SURPLUS, FORGET_ATTEMPTS] }).catch((err: unknown) => {
      log.warn({ err }, 'old records of scheduled jobs could not be removed');
    });
  });

const forgetOld = (beforeMs: number): Statement =>
  statementOf(build.deleteFrom('cron_occurrences').where('ended_ms', '<', beforeMs));

const FORGET_SURPLUS: Statement = {
  sql: `DELETE FROM cron_occurrences WHERE ended_ms IS NOT NULL AND (job_id, scheduled_ms) IN (
          SELECT job_id, scheduled_ms FROM (
            SELECT job_id, scheduled_ms, ROW_NUMBER() OVER (PARTITION BY job_id ORDER BY scheduled_ms DESC) AS place
            FROM cron_occurrences
          ) AS placed WHERE place > ?)`,
  parameters: [MAX_PER_JOB],
};

const FORGET_ATTEMPTS: Statement = {
  sql: `DELETE FROM cron_attempts WHERE NOT EXISTS (
          SELECT 1 FROM cron_occurrences AS kept
          WHERE kept.job_id = cron_attempts.job_id AND kept.scheduled_ms = cron_attempts.scheduled_ms)`,
  parameters: [],
};
