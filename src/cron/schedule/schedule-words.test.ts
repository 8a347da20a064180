import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeInWords } from './schedule-words.ts';

const inWords = (expr: string, tz?: string) => describeInWords({ kind: 'cron', expr, tz }, 'UTC');

test('an expression is described in words, with its zone', async () => {
  assert.deepEqual(
    await Promise.all([
      inWords('0 9 * * 1-5', 'Europe/Berlin'),
      inWords('*/15 * * * *'),
      inWords('0 0 L * *'),
      inWords('15 10 * * 5L'),
      inWords('0 0 * * MON#2'),
      inWords('@daily'),
    ]),
    [
      'at 09:00, Monday through Friday (Europe/Berlin)',
      'every 15 minutes (UTC)',
      'at 00:00, on the last day of the month (UTC)',
      'at 10:15, on the last Friday of the month (UTC)',
      'at 00:00, on the second Monday of the month (UTC)',
      'at 00:00 (UTC)',
    ],
  );
});

test('an expression without words is shown as written; other schedules have their own words', async () => {
  assert.equal(await inWords('5L 0 * * *'), '5L 0 * * * (UTC)');
  assert.equal(await describeInWords({ kind: 'every', everyMs: 900_000 }), 'every 15 minutes');
});
