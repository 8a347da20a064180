import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job } from '../../cron/jobs/job.ts';
import { someJob } from '../../cron/jobs/job-fixture.ts';
import { tempStore } from '../../testing/temp-store.ts';
import { pastRuns, plannedRuns } from './calendar.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const every = (id: string, everyMs: number): Job =>
  someJob({ id, name: id, schedule: { kind: 'every', everyMs, anchorMs: 0 } });
const planned = (jobs: readonly Job[], range: { fromMs: number; untilMs: number; tz?: string }, firstMs = HOUR_MS) =>
  plannedRuns(
    jobs.map((job) => ({ job, nextRunMs: firstMs })),
    { tz: 'UTC', ...range },
  );

test('planned runs are by time, and begin with the one that the scheduler waits for', async () => {
  const once = someJob({ id: 'once', name: 'once', schedule: { kind: 'at', atMs: HOUR_MS } });
  const { runs, truncated } = await planned([every('six', 6 * HOUR_MS), once], { fromMs: 0, untilMs: DAY_MS });
  const shown = runs.map(({ jobId, atMs, more }) => [jobId, atMs / HOUR_MS, more]);
  assert.deepEqual(shown, [
    ['six', 1, undefined], // after a pause
    ['once', 1, undefined],
    ...[6, 12, 18].map((hour) => ['six', hour, undefined]),
  ]);
  assert.equal(truncated, false);
  assert.deepEqual((await planned([once], { fromMs: 2 * HOUR_MS, untilMs: DAY_MS })).runs, []);
});

test('of a frequent job, each day has a few times', async () => {
  const { runs } = await planned([every('often', 60_000)], { fromMs: 0, untilMs: 2 * DAY_MS });
  const shown = runs.map(({ atMs, more }) => [atMs / 60_000, more]);
  assert.deepEqual(shown.slice(0, 4), [...[60, 61, 62].map((minute) => [minute, undefined]), [63, true]]);
  assert.deepEqual(shown.slice(4), [...[1_440, 1_441, 1_442].map((minute) => [minute, undefined]), [1_443, true]]);
});

test('days are those of the asked time zone, also when its clock changes', async () => {
  const tz = 'Europe/Berlin';
  const shownOn = async (dates: readonly [from: string, until: string]) => {
    const [fromMs = 0, untilMs = 0] = dates.map((date) => Date.parse(date));
    const { runs } = await planned([every('often', 3 * HOUR_MS)], { fromMs, untilMs, tz }, fromMs);
    return runs.map(({ atMs, more }) => `${new Date(atMs).toISOString().slice(5, 16)}${more ? ' more' : ''}`);
  };
  // From Saturday to Monday; on Sunday the clock is set forward, or back. Midnight is at 23:00 or 22:00 UTC.
  assert.deepEqual(await shownOn(['2026-03-27T23:00Z', '2026-03-30T22:00Z']), [
    ...['03-27T23:00', '03-28T00:00', '03-28T03:00', '03-28T06:00 more'],
    ...['03-29T00:00', '03-29T03:00', '03-29T06:00', '03-29T09:00 more'],
    ...['03-30T00:00', '03-30T03:00', '03-30T06:00', '03-30T09:00 more'],
  ]);
  const often = every('often', 30 * 60_000);
  const monday = Date.parse('2026-03-29T22:00Z');
  const spring = await planned([often], { fromMs: Date.parse('2026-03-28T23:00Z'), untilMs: monday + DAY_MS, tz });
  assert.equal(spring.runs[4]?.atMs, monday); // and not an hour later
  const later = Date.parse('2026-10-25T23:00Z');
  const autumn = await planned([often], { fromMs: Date.parse('2026-10-24T22:00Z'), untilMs: later + DAY_MS, tz });
  assert.deepEqual([autumn.runs[3]?.more, autumn.runs[4]?.atMs], [true, later]);
});

test('of ten thousand jobs, the earliest thousand runs are shown', async () => {
  const jobs = Array.from({ length: 10_000 }, (_, index) => ({
    job: every(`job_${index}`, DAY_MS),
    nextRunMs: (10_000 - index) * 1_000,
  }));
  const { runs, truncated } = await plannedRuns(jobs, { fromMs: 0, untilMs: DAY_MS, tz: 'UTC' });
  assert.deepEqual([runs.length, runs[0]?.jobId, runs.at(-1)?.jobId, truncated], [1_000, 'job_9999', 'job_9000', true]);
});

test('recorded runs have their state, and the name of a job that still exists', async () => {
  await using store = await tempStore();
  const row = (jobId: string, status: string, [atMs, endedMs]: [number, number | null]) => ({
    sql: `INSERT INTO cron_occurrences (job_id, scheduled_ms, through_ms, count, trigger, status, attempts, ended_ms,
            owner, epoch, lease_ms) VALUES (?, ?, ?, 1, 'schedule', ?, 1, ?, 'n', 1, 0)`,
    parameters: [jobId, atMs, atMs, status, endedMs],
  });
  await store.commit({
    statements: [
      row('known', 'ok', [10, 20]),
      row('known', 'error', [30, 35]),
      row('known', 'started', [50, null]),
      row('gone', 'missed', [40, 45]),
      row('known', 'ok', [5, 8]), // before the range
      row('known', 'ok', [99, 120]), // after it
    ],
  });
  const { runs, truncated } = await pastRuns(store, { fromMs: 10, untilMs: 90 }, (id) =>
    id === 'known' ? 'backup' : undefined,
  );
  assert.deepEqual(
    runs.map(({ name, atMs, state }) => [name, atMs, state]),
    [
      ['backup', 10, 'ok'],
      ['backup', 30, 'error'],
      ['gone', 40, 'missed'],
      ['backup', 50, 'running'],
    ],
  );
  assert.equal(truncated, false);
});
