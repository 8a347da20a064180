import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronCalendarRun } from '../../../../protocol/cron.ts';
import { createFakeClient } from '../fake-client.ts';
import { JobCalendar, toDays, toMonday } from './job-calendar.ts';

const run = (atMs: number): CronCalendarRun => ({ jobId: 'j', name: 'backup', atMs, state: 'planned' });
/** A Wednesday. */
const NOW = new Date(2026, 10, 25, 13, 30).getTime();

test('a week begins on Monday at midnight, in local time', () => {
  const shown = [0, 1, -1].map((week) => new Date(toMonday(NOW, week)).toDateString());
  assert.deepEqual(shown, ['Mon Nov 23 2026', 'Mon Nov 30 2026', 'Mon Nov 16 2026']);
  assert.equal(new Date(toMonday(NOW, 0)).getHours(), 0);
});

test('each run is on its day', () => {
  const weekMs = toMonday(NOW, 0);
  const late = new Date(2026, 10, 29, 23, 59).getTime();
  const days = toDays(weekMs, [run(weekMs), run(NOW), run(late)]);
  assert.deepEqual(
    days.map(({ runs }) => runs.length),
    [1, 0, 1, 0, 0, 0, 1],
  );
});

test('the week is read from the daemon, and so is another one', async () => {
  const { client, answer } = createFakeClient();
  const asked: unknown[] = [];
  answer('cron.calendar', (params) => {
    asked.push(params);
    return { tz: 'UTC', runs: [run(NOW)] };
  });
  const calendar = new JobCalendar({ client, now: () => NOW, timeZone: 'Europe/Berlin' });
  await calendar.read();
  await calendar.read(1);
  const week = (from: number) => ({
    fromMs: toMonday(NOW, from),
    untilMs: toMonday(NOW, from + 1),
    tz: 'Europe/Berlin',
  });
  assert.deepEqual(asked, [week(0), week(1)]);
  assert.deepEqual([calendar.week.value, calendar.runs.value?.weekMs], [1, toMonday(NOW, 1)]);
});
