import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { toDurationText, toScheduleText } from './schedule-text.ts';
import { ScheduleWords } from './schedule-words.ts';

test('a schedule is written as a person would type it, in the time zone of the page', () => {
  const atMs = Date.UTC(2026, 11, 24, 17);
  assert.deepEqual(
    [
      toScheduleText({ kind: 'at', atMs }, 'Europe/Berlin'),
      toScheduleText({ kind: 'at', atMs: atMs + 5_000 }, 'UTC'),
      toScheduleText({ kind: 'every', everyMs: 900_000 }, 'UTC'),
      toScheduleText({ kind: 'cron', expr: '0 9 * * *', tz: 'Asia/Tokyo' }, 'UTC'),
      toScheduleText({ kind: 'cron', expr: '0 9 * * *' }, 'UTC'),
    ],
    ['at 2026-12-24 18:00', 'at 2026-12-24 17:00:05', 'every 15m', '0 9 * * * Asia/Tokyo', '0 9 * * *'],
  );
  assert.deepEqual([9_000_000, 86_400_000, 300].map(toDurationText), ['2h30m', '1d', '300ms']);
});

test('each schedule description is requested once; until then its text is shown', async () => {
  const { client, answer, calls } = createFakeClient();
  answer('cron.preview', ({ schedule }: { schedule: { expr: string } }) => {
    if (schedule.expr === 'bad') throw new Error('no');
    return { description: 'every day at nine' };
  });
  const words = new ScheduleWords({ client, timeZone: 'UTC' });
  const daily = { kind: 'cron', expr: '0 9 * * *', tz: 'UTC' } as const;
  const bad = { kind: 'cron', expr: 'bad' } as const;
  assert.deepEqual([words.of(daily), words.of(bad), words.of(daily)], ['0 9 * * * UTC', 'bad', '0 9 * * * UTC']);
  await new Promise(setImmediate);
  assert.deepEqual([words.of(daily), words.of(bad), calls.length], ['every day at nine', 'bad', 2]);
  assert.equal(words.of({ kind: 'at', atMs: 0 }), 'once, at 1970-01-01 00:00');
});
