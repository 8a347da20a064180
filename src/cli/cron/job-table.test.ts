import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronOccurrence } from '../../../protocol/cron.ts';
import { toDistance, toLength, toLocal } from '../local-time.ts';
import { someJob } from './job-fixture.ts';
import { toJobTable, toNextRunIn, toRunTable } from './job-table.ts';
import { toScheduleLine } from './schedule-status.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;
const here = { nowMs: NOW, tz: 'Europe/Berlin' };

const run = (more: Partial<CronOccurrence>): CronOccurrence => ({
  ...{ jobId: 'j1', action: 'finished', status: 'ok', scheduledAtMs: NOW, trigger: 'schedule', attempts: 1 },
  ...more,
});

test('the list shows the next run in local time, the last status, and disabled jobs', async () => {
  const table = await toJobTable(
    [
      someJob({ name: 'mail', state: { nextRunAtMs: NOW + 15 * MINUTE, lastRunAtMs: NOW - MINUTE, lastStatus: 'ok' } }),
      someJob({ name: 'off', enabled: false }),
      someJob({ name: 'a\nb', state: { nextRunAtMs: NOW - 1, lastStatus: 'error', consecutiveErrors: 2 } }),
      someJob({ name: 'broken', state: { lastStatus: 'error', consecutiveErrors: 4, alert: true } }),
      someJob({ state: { runningAtMs: NOW } }),
    ],
    here,
  );
  const lines = table.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/)),
    [
      ['NAME', 'SCHEDULE', 'NEXT RUN', 'STATUS', 'LAST RUN', 'ID'],
      ['mail', 'every 15 minutes', 'Fri 2026-11-20 13:15 (in 15 min)', 'ok', '60 s ago', 'j1'],
      ['off', 'every 15 minutes', 'off', '-', 'never', 'j1'],
      ['a', 'every 15 minutes', 'Fri 2026-11-20 12:59:59 (due)', 'error (2 in a row)', 'never', 'j1'],
      ['broken', 'every 15 minutes', 'none', 'ALERT (4 errors in a row)', 'never', 'j1'],
      ['j1', 'every 15 minutes', 'none', 'running', 'never', 'j1'],
    ],
  );
});

test('the next run is also shown in the time zone of its schedule', () => {
  const next = someJob({ state: { nextRunAtMs: NOW + 15 * MINUTE } });
  assert.equal(
    toNextRunIn('Asia/Tokyo', next, here),
    'Fri 2026-11-20 13:15 (in 15 min), in Asia/Tokyo Fri 2026-11-20 21:15',
  );
  assert.equal(toNextRunIn('Europe/Paris', next, here), 'Fri 2026-11-20 13:15 (in 15 min)', 'the same clock');
  assert.equal(toNextRunIn('Asia/Tokyo', someJob({ enabled: false }), here), 'off');
});

test('the history shows delays, retries, forced runs, and ranges of missed times', () => {
  const table = toRunTable(
    [
      run({ status: 'missed', error: 'was not running', throughMs: NOW + 60 * MINUTE, count: 5 }),
      run({ trigger: 'forced', runAtMs: NOW, durationMs: 4_200, summary: 'all\nwell \u202e' }),
      run({ status: undefined, attempts: 2, retryAtMs: NOW + MINUTE }),
    ],
    here,
  );
  const lines = table.trimEnd().split('\n').slice(1);
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/)),
    [
      [...['Fri 2026-11-20 13:00 to Fri 2026-11-20 14:00', 'missed', '-', '-'], '[5 times] was not running'],
      ['Fri 2026-11-20 13:00', 'ok', 'Fri 2026-11-20 13:00', '4.2 s', '[by hand] all'],
      [...['Fri 2026-11-20 13:00', 'retrying', '-', '-'], '[2 attempts] [next attempt Fri 2026-11-20 13:01]'],
    ],
  );
});

test('an occurrence that has not started is shown as due, not as running', () => {
  const open = { status: undefined, attempts: 0 };
  const table = toRunTable([run(open), run({ ...open, attempts: 1, runAtMs: NOW })], here);
  const statuses = table.split('\n').map((line) => line.split(/ {2,}/)[1]);
  assert.deepEqual(statuses.slice(1, 3), ['due', 'running']);
});

test('distances and lengths are short', () => {
  assert.deepEqual(
    [toDistance(NOW + 42_000, NOW), toDistance(NOW + 3 * 60 * MINUTE, NOW), toDistance(NOW - 50 * 60 * MINUTE, NOW)],
    ['in 42 s', 'in 3 h', '2 days ago'],
  );
  assert.deepEqual([340, 4_200, 200_000, 7_500_000].map(toLength), ['340 ms', '4.2 s', '3 min 20 s', '2 h 5 min']);
  assert.equal(toLocal(NOW + 5_000, here), 'Fri 2026-11-20 13:00:05');
});

test('status shows the next job, or what keeps all jobs from running', () => {
  const status = {
    ...{ enabled: true, switchedOffBy: [], jobs: 2, nextWakeAtMs: NOW + 5 * MINUTE, next: 'mail' },
    ...{ failing: [], missed: [] },
  };
  assert.equal(toScheduleLine(status, here), '2 jobs, the next "mail" Fri 2026-11-20 13:05 (in 5 min)');
  const off = { ...status, enabled: false, switchedOffBy: ['cron.enabled', 'HEADGATE_SKIP_CRON'] as const };
  assert.equal(
    toScheduleLine(off, here),
    "2 jobs, switched off (cron.enabled in config.json and HEADGATE_SKIP_CRON in the daemon's environment)",
  );
  assert.equal(toScheduleLine({ ...status, jobs: 1, nextWakeAtMs: null }, here), '1 job, none due');
});
