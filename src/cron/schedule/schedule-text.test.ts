import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkSchedule } from './schedule-check.ts';
import { describeSchedule, parseHumanSchedule } from './schedule-text.ts';

/** 13:00 in Berlin. */
const context = { nowMs: Date.UTC(2026, 10, 21, 12), tz: 'Europe/Berlin' };
const read = (text: string) => {
  const found = parseHumanSchedule(text, context);
  return 'schedule' in found ? found.schedule : found.problem;
};
const instant = (text: string) => {
  const found = parseHumanSchedule(text, context);
  return 'schedule' in found && found.schedule.kind === 'at' ? new Date(found.schedule.atMs).toISOString() : found;
};

test('periods', () => {
  const periods = [
    'every 15m',
    'every 2h30m',
    'Every 90s',
    'every 15 minutes',
    'every 2 hours 30 min',
    'every day',
    'every  hour',
  ];
  const expected = [900_000, 9_000_000, 90_000, 900_000, 9_000_000, 86_400_000, 3_600_000];
  assert.deepEqual(
    periods.map(read),
    expected.map((everyMs) => ({ kind: 'every', everyMs })),
  );
});

test('instants', () => {
  const cases: Record<string, string> = {
    'in 20m': '2026-11-21T12:20:00.000Z',
    'in 1 day': '2026-11-22T12:00:00.000Z',
    'at 18:00': '2026-11-21T17:00:00.000Z',
    'at 9:05': '2026-11-22T08:05:00.000Z',
    'at 13:00': '2026-11-22T12:00:00.000Z',
    'at 18:00 America/New_York': '2026-11-21T23:00:00.000Z',
    'at 2026-12-24 18:00': '2026-12-24T17:00:00.000Z',
    '2026-12-24 18:00': '2026-12-24T17:00:00.000Z',
    'at 2026-12-24': '2026-12-23T23:00:00.000Z',
    'at 2026-12-24 18:00:30 Asia/Kathmandu': '2026-12-24T12:15:30.000Z',
    '2026-12-24T18:00Z': '2026-12-24T18:00:00.000Z',
    'at 2026-12-24T18:00:00+05:30': '2026-12-24T12:30:00.000Z',
    'at 2026-12-24 18:00 +01:00': '2026-12-24T17:00:00.000Z',
    '2026-12-24T18:00-0330': '2026-12-24T21:30:00.000Z',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(instant(text), expected, text);
});

test('a missing or repeated local time follows the rule of schedules', () => {
  assert.equal(instant('at 2027-03-28 02:30'), '2027-03-28T01:00:00.000Z');
  assert.equal(instant('at 2027-10-31 02:30'), '2027-10-31T00:30:00.000Z');
});

test('for a missing time a note names its replacement', () => {
  const noteOf = (text: string, nowMs = context.nowMs) => {
    const found = parseHumanSchedule(text, { nowMs, tz: 'UTC' });
    return 'schedule' in found ? found.note : found;
  };
  const note = '02:30 does not exist on 2027-03-28 in Europe/Berlin: the clock is set forward over it, to 03:00 +02:00';
  assert.equal(noteOf('at 2027-03-28 02:30 Europe/Berlin'), note);
  assert.equal(noteOf('at 2:30 Europe/Berlin', Date.UTC(2027, 2, 27, 12)), note);
  for (const text of ['at 2027-03-28 02:30', 'at 2027-03-28 03:00 Europe/Berlin', 'at 2:30 Europe/Berlin', 'every 1h'])
    assert.equal(noteOf(text), undefined, text);
});

test('the written zone is returned, also for an instant', () => {
  const zoneOf = (text: string) => {
    const found = parseHumanSchedule(text, context);
    return 'schedule' in found && found.tz;
  };
  assert.deepEqual(
    ['at 02:30 asia/tokyo', '2026-12-24 18:00 UTC', 'at 18:00', 'every 15m', '@daily Japan'].map(zoneOf),
    ['Asia/Tokyo', 'UTC', 'Europe/Berlin', 'Europe/Berlin', 'Japan'],
  );
});

test('expressions, with a zone or without', () => {
  assert.deepEqual(read('0 9 * * 1-5'), { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' });
  assert.deepEqual(read('0 9 * * 1-5  asia/tokyo'), { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Asia/Tokyo' });
  assert.deepEqual(read('0 9 * * MON-FRI/2'), { kind: 'cron', expr: '0 9 * * MON-FRI/2', tz: 'Europe/Berlin' });
  assert.deepEqual(read('*/20 0 9 * * MON'), { kind: 'cron', expr: '*/20 0 9 * * MON', tz: 'Europe/Berlin' });
  assert.deepEqual(read('@daily'), { kind: 'cron', expr: '@daily', tz: 'Europe/Berlin' });
  assert.deepEqual(read('@daily UTC'), { kind: 'cron', expr: '@daily', tz: 'UTC' });
  assert.deepEqual(read('0 9 * * * Japan'), { kind: 'cron', expr: '0 9 * * *', tz: 'Japan' });
});

test('unreadable text gets a helpful sentence', () => {
  assert.match(String(read('')), /^"" is not a schedule: write it like "every 15m", "in 20m"/);
  assert.match(String(read('tomorrow')), /is not a schedule: write it like/);
  assert.match(String(read('every now and then')), /"now and then" is not a duration; write it like "every 15m"/);
  assert.match(String(read('every monday at 9')), /"monday at 9" is not a duration; write it like "0 9 \* \* 1"/);
  assert.match(String(read('every 0m')), /is not a duration/);
  assert.match(String(read('every 15m UTC')), /takes no time zone/);
  assert.match(String(read('in 15m Asia/Tokyo')), /takes no time zone/);
  assert.match(String(read('in -5m')), /is not a duration; write it like "in 20m"/);
  assert.match(String(read('at 25:00')), /"25:00" is not a time of day/);
  assert.match(String(read('at noon')), /"noon" is not a time: write it like/);
  assert.match(String(read('at 2026-02-30 10:00')), /is not a date: February 2026 has 28 days/);
  assert.match(String(read('at 2026-12-24 24:00')), /is not a time: a day goes from 00:00/);
  assert.match(String(read('2026-12-24T18:00Z UTC')), /takes no time zone; leave out UTC/);
  assert.equal(read('at 2020-01-01 10:00'), '"2020-01-01 10:00" has passed');
  assert.match(String(read('0 9 * * 1-5 Europe/Atlantis')), /"Europe\/Atlantis" is not a known time zone/);
  assert.match(String(read('0 25 * * *')), /^"0 25 \* \* \*" cannot be read: invalid hour "25"/);
  assert.equal(read('0 0 30 2 *'), '"0 0 30 2 *" never fires: no month has that day');
  assert.match(String(read('@reboot')), /^"@reboot" is not one of @yearly/);
  for (const text of ['at 9999-01-01 10:00', 'every 999999w', 'in 999999w'])
    assert.match(String(read(text)), /^".*" is too far away: nothing is planned after the year 2999$/);
  assert.match(String(read('x'.repeat(500))), /at most 400 characters/);
});

test('any text is read or refused, and accepted text can run', () => {
  const word = fc.constantFrom(
    'every',
    'at',
    'in',
    '15m',
    '18:00',
    '2026-12-24',
    'UTC',
    'Europe/Berlin',
    '@daily',
    '*',
    '0',
    '9',
    'day',
  );
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(word, { maxLength: 8 }).map((words) => words.join(' ')),
  );
  fc.assert(
    fc.property(text, (some) => {
      const found = parseHumanSchedule(some, context);
      if ('schedule' in found) assert.equal(checkSchedule(found.schedule, context.nowMs), undefined);
      else assert.notEqual(found.problem, '');
    }),
    { numRuns: 1_000 },
  );
});

test('a schedule is described in words', () => {
  assert.equal(describeSchedule({ kind: 'every', everyMs: 900_000 }), 'every 15 minutes');
  assert.equal(describeSchedule({ kind: 'every', everyMs: 300 }), 'every 300 ms (runs every 1200 ms)');
  assert.equal(
    describeSchedule({ kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' }),
    '0 9 * * 1-5 (Europe/Berlin)',
  );
  assert.equal(describeSchedule({ kind: 'cron', expr: '@daily' }, 'Asia/Tokyo'), '@daily (Asia/Tokyo)');
  const atMs = Date.UTC(2026, 11, 24, 17);
  assert.equal(describeSchedule({ kind: 'at', atMs }, 'Europe/Berlin'), 'at 2026-12-24 18:00 +01:00 (Europe/Berlin)');
});
