import type { CronSchedule } from '../protocol/cron.ts';
import { systemClock } from '../src/clock.ts';
import { newJob } from '../src/cron/jobs/define-job.ts';
import { insertJob } from '../src/gateway/cron/job-rows.ts';
import { openSqliteStore } from '../src/gateway/store/sqlite-store.ts';
import { randomIds } from '../src/ids.ts';
import { createLog } from '../src/pino-log.ts';

/** Fills a daemon's database with scheduled jobs of every kind, none of them due for weeks. Returns their ids. */
export async function seedJobs(path: string, count: number): Promise<string[]> {
  const log = createLog({ level: 'silent', readable: false });
  await using store = await openSqliteStore({ path, clock: systemClock, log, durability: 'normal', bootId: 'bench' });
  const nowMs = systemClock.now();
  const jobs = Array.from({ length: count }, (_, n) => {
    const asked = { ...WISHES[n % WISHES.length], name: `job ${n}`, schedule: scheduleOf(n, nowMs) } as const;
    return newJob({ ...WISH, ...asked }, { id: randomIds.id('job'), nowMs, hostTimeZone: 'UTC' });
  });
  for (let n = 0; n < count; n += AT_ONCE) {
    await store.commit({ statements: jobs.slice(n, n + AT_ONCE).map((job) => insertJob(job)) });
  }
  return jobs.map(({ id }) => id);
}

const AT_ONCE = 500;
const WEEK_MS = 604_800_000;
const WISH = {
  sessionTarget: 'main',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'systemEvent', text: 'tick' },
} as const;
const WISHES = [
  {},
  {
    sessionTarget: 'isolated',
    payload: { kind: 'agentTurn', message: 'Look through what came in since yesterday, and sum it up in three lines.' },
  },
] as const;

function scheduleOf(n: number, nowMs: number): CronSchedule {
  const fromMs = nowMs + 3 * WEEK_MS + n * 1_000;
  if (n % 3 === 0) return { kind: 'at', atMs: fromMs };
  if (n % 3 === 1) return { kind: 'every', everyMs: WEEK_MS, anchorMs: fromMs };
  return { kind: 'cron', expr: `${n % 60} ${n % 24} 29 2 *`, tz: 'Europe/Berlin' };
}
