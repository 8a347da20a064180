import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import fc from 'fast-check';
import { CronSchedule } from '../../../protocol/cron.ts';
import { END_MS, nextAfter } from './schedule.ts';
import { checkSchedule } from './schedule-check.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const cron = (expr: string, tz?: string): CronSchedule => ({ kind: 'cron', expr, tz });
/** The invalid field and its problem. */
function messageOf(schedule: CronSchedule): string | undefined {
  const wrong = checkSchedule(schedule, NOW_MS);
  return wrong && `${wrong.field} ${wrong.problem}`;
}
const problemOf = (expr: string) => String(messageOf(cron(expr)));

test('valid schedules are accepted', () => {
  const good: CronSchedule[] = [
    { kind: 'at', atMs: 0 },
    { kind: 'at', atMs: NOW_MS + 1 },
    { kind: 'every', everyMs: 1 },
    { kind: 'every', everyMs: 60_000, anchorMs: 0 },
    ...['* * * * *', '0 9 * * 1-5', '*/5 * * * * *', '@daily', '@HOURLY', ' 0  9 * * mon ', '0 0 L * *'].map((expr) =>
      cron(expr),
    ),
    ...['0 0 LW * *', '0 0 15W * *', '0 0 29 2 *', '0 0 * 2 MON#5', '0 0 ? * 5L', '0 0 31 2 MON'].map((expr) =>
      cron(expr),
    ),
    ...['Europe/Berlin', 'europe/berlin', 'US/Eastern', 'UTC', '+05:30'].map((tz) => cron('0 9 * * *', tz)),
  ];
  assert.deepEqual(
    good.map(messageOf),
    good.map(() => undefined),
  );
});

test('invalid numbers are refused with the field', () => {
  const bad: [field: string, schedule: CronSchedule][] = [
    ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, Date.UTC(300_000, 0, 1)].flatMap(
      (ms): [string, CronSchedule][] => [
        ['atMs', { kind: 'at', atMs: ms }],
        ['everyMs', { kind: 'every', everyMs: ms }],
        ['anchorMs', { kind: 'every', everyMs: 60_000, anchorMs: ms }],
      ],
    ),
    ['everyMs', { kind: 'every', everyMs: 0 }],
  ];
  for (const [field, schedule] of bad) {
    const wrong = checkSchedule(schedule, NOW_MS);
    assert.equal(wrong?.field, field);
    assert.match(wrong.problem, /^must be a whole number of milliseconds from /);
  }
});

test('the bounds that PROTOCOL.md lists for times and periods are those that are checked', () => {
  const atEnd = (ms: number): CronSchedule[] => [
    { kind: 'at', atMs: ms },
    { kind: 'every', everyMs: ms },
    { kind: 'every', everyMs: 60_000, anchorMs: ms },
  ];
  for (const [ms, isValid] of [[END_MS - 1, true] as const, [END_MS, false] as const])
    for (const schedule of atEnd(ms)) {
      assert.equal(CronSchedule.safeParse(schedule).success, isValid);
      assert.equal(messageOf(schedule) === undefined, isValid);
    }
});

test('for an invalid expression the invalid field is named', () => {
  assert.match(problemOf('0 25 * * *'), /^expr cannot be read: invalid hour "25" \(0-23;/);
  assert.match(problemOf('0 9 * * MOO'), /invalid weekday "MOO"/);
  assert.match(problemOf('60 0 9 * * *'), /invalid second "60"/);
  assert.match(problemOf('0 9 0 * *'), /invalid day of the month "0"/);
  assert.match(problemOf('0 9 * 13 *'), /invalid month "13"/);
  assert.match(problemOf('5-1 9 * * *'), /invalid minute "5-1"/);
  assert.match(problemOf('*/0 9 * * *'), /invalid minute "\*\/0"/);
  assert.match(problemOf('0 12 1 * +MON'), /invalid weekday "\+MON"/);
  assert.match(problemOf('0 12:30 * * *'), /invalid hour "12:30"/);
  assert.match(problemOf(''), /^expr has 0 fields; it needs 5/);
  assert.match(problemOf('0 9 * * * * 2027'), /^expr has 7 fields/);
  assert.match(problemOf('@reboot'), /^expr is not one of @yearly/);
  for (const expr of ['constructor', '__proto__', '@'])
    assert.match(problemOf(expr), /^expr (has 1 field|is not one of @yearly)/);
  assert.match(problemOf('2026-12-24T18:00'), /^expr has 1 field;/);
  assert.equal(messageOf(cron(`0 9 * * ${'1,'.repeat(200)}1`)), 'expr is longer than 256 characters');
});

test('an expression that never fires is refused', () => {
  const never = ['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 30W,31W 2 *', '0 0 0 31 APR,JUN ?'];
  assert.deepEqual(
    never.map((expr) => messageOf(cron(expr))),
    never.map(() => 'expr never fires: no month has that day'),
  );
  assert.match(messageOf(cron('* 2 * 3 SUNL', 'Europe/Berlin')) ?? '', /^expr never fires in Europe\/Berlin/);
  assert.equal(messageOf(cron('* 2 * 3 SUNL', 'UTC')), undefined);
});

test('an unknown zone is refused', () => {
  for (const tz of ['', 'Europe/Atlantis', 'CEST?', '../../etc/passwd', 'x'.repeat(10_000)]) {
    assert.equal(checkSchedule(cron('0 9 * * *', tz), NOW_MS)?.field, 'tz');
  }
});

const someItem = fc.oneof(
  fc.constantFrom(
    '*',
    '?',
    'L',
    'LW',
    '1W',
    '31W',
    '30W',
    'MON',
    'sun',
    'SUNL',
    '5#5',
    'FEB',
    '*/2',
    '1-5/2',
    '29',
    '30',
    '31',
    '2',
    '+1',
  ),
  fc.string({ unit: fc.constantFrom(...'0123456789*/,-#LW?+@:. \t'), maxLength: 6 }),
);
const someExpression = fc.oneof(
  fc
    .array(
      fc.array(someItem, { minLength: 1, maxLength: 40 }).map((items) => items.join(',')),
      { minLength: 5, maxLength: 6 },
    )
    .map((fields) => fields.join(' ')),
  fc.tuple(someItem, someItem).map(([day, month]) => `* 2 ${day} ${month} *`),
  fc.string({ maxLength: 300 }),
);

test('every text is checked without throwing and in bounded time, and accepted ones fire', () => {
  const tz = fc.constantFrom(undefined, 'Europe/Berlin', 'America/Nuuk');
  fc.assert(
    fc.property(someExpression, tz, (expr, zone) => {
      const before = process.cpuUsage();
      const wrong = checkSchedule(cron(expr, zone), NOW_MS);
      const { user } = process.cpuUsage(before);
      assert.ok(user < 1_000_000, `${user} µs for ${JSON.stringify(expr)}`);
      if (wrong === undefined) assert.ok((nextAfter(cron(expr, zone), NOW_MS, { anchorMs: 0 }) ?? 0) > NOW_MS);
      else assert.ok(['expr', 'tz'].includes(wrong.field));
    }),
    { numRuns: 1_000 },
  );
});
