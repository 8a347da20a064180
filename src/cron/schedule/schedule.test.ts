import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CronSchedule } from '../../../protocol/cron.ts';
import { isMoreFrequentThanDaily, nextAfter, preview, toPeriodMs, zoneOf } from './schedule.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const every = (everyMs: number, anchorMs?: number): CronSchedule => ({ kind: 'every', everyMs, anchorMs });
const cron = (expr: string, tz?: string): CronSchedule => ({ kind: 'cron', expr, tz });

test('a single instant comes once, strictly after the given time', () => {
  const at: CronSchedule = { kind: 'at', atMs: 1_000 };
  assert.equal(nextAfter(at, 999, { anchorMs: 0 }), 1_000);
  assert.equal(nextAfter(at, 1_000, { anchorMs: 0 }), undefined);
  assert.equal(nextAfter({ kind: 'at', atMs: 0 }, -1, { anchorMs: 0 }), 0);
});

test('a period begins at its anchor, or else at the job’s creation', () => {
  assert.equal(nextAfter(every(60_000, 500_000), 0, { anchorMs: 7 }), 500_000);
  assert.equal(nextAfter(every(60_000, 500_000), 500_000, { anchorMs: 7 }), 560_000);
  assert.equal(nextAfter(every(60_000, 500_000), 559_999, { anchorMs: 7 }), 560_000);
  assert.equal(nextAfter(every(60_000), 60_006, { anchorMs: 7 }), 60_007);
  assert.equal(nextAfter(every(60_000), 60_007, { anchorMs: 7 }), 120_007);
});

test('a period of less than a second keeps its grid and skips instants that are too close', () => {
  assert.deepEqual([1, 7, 300, 999, 1_000, 1_500].map(toPeriodMs), [1_000, 1_001, 1_200, 1_998, 1_000, 1_500]);
  assert.equal(nextAfter(every(300), 0, { anchorMs: 0 }), 1_200);
});

test('huge periods and anchors give correct instants', () => {
  const most = 8_640_000_000_000_000;
  assert.equal(nextAfter(every(most, 1), 5, { anchorMs: 0 }), undefined);
  assert.equal(nextAfter(every(1_000, most), 5, { anchorMs: 0 }), undefined);
  assert.equal(nextAfter(every(1_000, 0), most, { anchorMs: 0 }), undefined);
  assert.equal(nextAfter({ kind: 'at', atMs: most }, 0, { anchorMs: 0 }), undefined);
  assert.equal(nextAfter(cron('0 0 * * *'), most, { anchorMs: 0 }), undefined);
});

test('an expression without a zone has that of the host, and UTC without one', () => {
  assert.equal(nextAfter(cron('0 13 * * *'), NOW_MS, { anchorMs: 0 }), NOW_MS + 3_600_000);
  assert.equal(nextAfter(cron('0 13 * * *'), NOW_MS - 1, { anchorMs: 0, tz: 'Europe/Berlin' }), NOW_MS);
  assert.equal(nextAfter(cron('0 13 * * *', 'UTC'), NOW_MS, { anchorMs: 0, tz: 'Europe/Berlin' }), NOW_MS + 3_600_000);
  assert.equal(zoneOf(cron('@daily', 'Asia/Tokyo'), { tz: 'UTC' }), 'Asia/Tokyo');
});

test('if day and weekday are both restricted, either of them suffices', () => {
  const days = (expr: string) =>
    preview(cron(expr), { fromMs: NOW_MS, count: 4, anchorMs: 0 }).map(({ local }) => local.slice(5, 10));
  assert.deepEqual(days('0 0 1 * MON'), ['11-23', '11-30', '12-01', '12-07']);
  assert.deepEqual(days('0 0 * * MON'), ['11-23', '11-30', '12-07', '12-14']);
  assert.deepEqual(days('0 0 ? * MON'), ['11-23', '11-30', '12-07', '12-14']);
  assert.deepEqual(days('0 0 L * *'), ['11-30', '12-31', '01-31', '02-28']);
  assert.deepEqual(days('0 0 15W 8 *'), ['08-16', '08-15', '08-15', '08-15']);
  assert.deepEqual(days('0 0 * * FRI#2'), ['12-11', '01-08', '02-12', '03-12']);
  assert.deepEqual(days('0 0 * * 5L'), ['11-27', '12-25', '01-29', '02-26']);
});

test('a preview shows the local time and offset of the schedule’s zone', () => {
  const options = { fromMs: NOW_MS, count: 2, anchorMs: NOW_MS, tz: 'Asia/Kathmandu' };
  assert.deepEqual(preview(cron('0 18 24 12 *', 'Europe/Berlin'), { ...options, count: 1 }), [
    { atMs: Date.UTC(2026, 11, 24, 17), local: '2026-12-24T18:00:00', offset: '+01:00', tz: 'Europe/Berlin' },
  ]);
  assert.deepEqual(
    preview(every(DAY_MS), options).map(({ local, offset, tz }) => local + offset + tz),
    ['2026-11-22T17:45:00+05:45Asia/Kathmandu', '2026-11-23T17:45:00+05:45Asia/Kathmandu'],
  );
  assert.equal(preview({ kind: 'at', atMs: NOW_MS + 1 }, options).length, 1);
  assert.deepEqual(preview({ kind: 'at', atMs: NOW_MS }, options), []);
  assert.deepEqual(preview(every(DAY_MS), { ...options, count: 0 }), []);
});

test('more frequent than daily means more than one time of day', () => {
  const often = ['* * * * *', '0 9,17 * * *', '0 9,10 1 1 *', '@hourly', '0,1 0 9 * * MON', '59 23,0 * * *'];
  const rarely = ['0 9 * * *', '@daily', '0 0 * * MON', '0 0 1 * MON', '0 0 29 2 *', '30 15 10 * * *'];
  assert.deepEqual(
    often.map((expr) => isMoreFrequentThanDaily(cron(expr))),
    often.map(() => true),
  );
  assert.deepEqual(
    rarely.map((expr) => isMoreFrequentThanDaily(cron(expr))),
    rarely.map(() => false),
  );
  assert.deepEqual(
    [DAY_MS - 1, DAY_MS].map((ms) => isMoreFrequentThanDaily(every(ms))),
    [true, false],
  );
  assert.equal(isMoreFrequentThanDaily({ kind: 'at', atMs: 1 }), false);
});

const someField = (most: number) =>
  fc.oneof(
    fc.nat(most).map(String),
    fc.uniqueArray(fc.nat(most), { minLength: 1, maxLength: 3 }).map((values) => values.join(',')),
    fc.integer({ min: 1, max: most }).map((step) => `*/${step}`),
    fc.constant('*'),
  );
const someExpression = fc
  .tuple(
    someField(59),
    someField(23),
    fc.constantFrom('*', '1', 'L', '15W', '*/3'),
    fc.constantFrom('*', 'MON', '1-5', '0L'),
  )
  .map(([minute, hour, day, weekday]) => `${minute} ${hour} ${day} * ${weekday}`);
const someZone = fc.constantFrom(
  'Europe/Berlin',
  'America/Nuuk',
  'Australia/Lord_Howe',
  'America/Havana',
  'Asia/Kathmandu',
  'UTC',
);
const someSchedule: fc.Arbitrary<CronSchedule> = fc.oneof(
  fc.tuple(someExpression, someZone).map(([expr, tz]) => cron(expr, tz)),
  fc
    .tuple(fc.integer({ min: 1, max: 10 ** 12 }), fc.integer({ min: 0, max: 4 * 10 ** 12 }))
    .map(([ms, anchor]) => every(ms, anchor)),
);
const someInstant = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const defaults = { anchorMs: 0 };

test('the next occurrence is strictly after, and stays the same until it comes', () => {
  fc.assert(
    fc.property(someSchedule, someInstant, fc.double({ min: 0, max: 1, noNaN: true }), (schedule, afterMs, share) => {
      const nextMs = nextAfter(schedule, afterMs, defaults) ?? assert.fail('it never comes');
      assert.ok(nextMs > afterMs);
      const betweenMs = Math.floor(afterMs + (nextMs - 1 - afterMs) * share);
      assert.equal(nextAfter(schedule, betweenMs, defaults), nextMs);
      assert.equal(nextAfter(schedule, nextMs - 1, defaults), nextMs);
    }),
  );
});

test('a later start never gives an earlier answer', () => {
  fc.assert(
    fc.property(someSchedule, someInstant, fc.nat(10 ** 9), (schedule, afterMs, laterMs) => {
      const first = nextAfter(schedule, afterMs, defaults) ?? assert.fail('it never comes');
      assert.ok((nextAfter(schedule, afterMs + laterMs, defaults) ?? 0) >= first);
    }),
  );
});

test('a preview repeats the next occurrence', () => {
  fc.assert(
    fc.property(someSchedule, someInstant, (schedule, fromMs) => {
      const shown = preview(schedule, { fromMs, count: 5, ...defaults });
      let afterMs = fromMs;
      for (const { atMs, local, offset } of shown) {
        assert.equal(atMs, nextAfter(schedule, afterMs, defaults));
        assert.equal(Date.parse(local + offset), atMs - (atMs % 1_000));
        afterMs = atMs;
      }
      assert.equal(shown.length, 5);
    }),
    { numRuns: 50 },
  );
});
