import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readExpression } from './schedule-calendar.ts';
import { nextInstant } from './schedule-instants.ts';
import { toLocalTime } from './schedule-zone.ts';

/** Each row: the expression, the start, and the local times of the next occurrences. */
const CASES: Record<string, readonly (readonly [expr: string, after: string, expected: readonly string[]])[]> = {
  'Europe/Berlin': [
    ['30 2 * * *', '2027-03-27T12:00Z', ['2027-03-28T03:00+02:00', '2027-03-29T02:30+02:00']],
    ['0,30 2 * * *', '2027-03-27T12:00Z', ['2027-03-28T03:00+02:00', '2027-03-29T02:00+02:00']],
    ['0 2,3 * * *', '2027-03-27T12:00Z', ['2027-03-28T03:00+02:00', '2027-03-29T02:00+02:00']],
    ['*/15 * * * *', '2027-03-28T00:30Z', ['2027-03-28T01:45+01:00', '2027-03-28T03:00+02:00']],
    ['*/15 2 * * *', '2027-03-27T12:00Z', ['2027-03-29T02:00+02:00', '2027-03-29T02:15+02:00']],
    ['30 2 * * *', '2027-10-30T12:00Z', ['2027-10-31T02:30+02:00', '2027-11-01T02:30+01:00']],
    ['30 2 * * *', '2027-10-31T01:10Z', ['2027-11-01T02:30+01:00']], // starts in the second pass
    [
      '*/30 * * * *',
      '2027-10-30T23:59Z',
      [
        '2027-10-31T02:00+02:00',
        '2027-10-31T02:30+02:00',
        '2027-10-31T02:00+01:00',
        '2027-10-31T02:30+01:00',
        '2027-10-31T03:00+01:00',
      ],
    ],
  ],
  'America/New_York': [
    ['30 2 * * *', '2026-03-07T12:00Z', ['2026-03-08T03:00-04:00', '2026-03-09T02:30-04:00']],
    [
      '0,30 2,3 * * *',
      '2026-03-07T12:00Z',
      ['2026-03-08T03:00-04:00', '2026-03-08T03:30-04:00', '2026-03-09T02:00-04:00'],
    ],
    ['30 1 * * *', '2026-10-31T12:00Z', ['2026-11-01T01:30-04:00', '2026-11-02T01:30-05:00']],
    ['0 * * * *', '2026-11-01T04:30Z', ['2026-11-01T01:00-04:00', '2026-11-01T01:00-05:00', '2026-11-01T02:00-05:00']],
  ],
  // A change of half an hour.
  'Australia/Lord_Howe': [
    ['15 2 * * *', '2026-10-02T16:00Z', ['2026-10-04T02:30+11:00', '2026-10-05T02:15+11:00']],
    [
      '*/15 1-2 * * *',
      '2026-10-03T15:10Z',
      ['2026-10-04T01:45+10:30', '2026-10-04T02:30+11:00', '2026-10-04T02:45+11:00'],
    ],
    ['45 1 * * *', '2027-04-03T12:00Z', ['2027-04-04T01:45+11:00', '2027-04-05T01:45+10:30']],
    [
      '*/15 1 * * *',
      '2027-04-03T14:20Z',
      [
        '2027-04-04T01:30+11:00',
        '2027-04-04T01:45+11:00',
        '2027-04-04T01:30+10:30',
        '2027-04-04T01:45+10:30',
        '2027-04-05T01:00+10:30',
      ],
    ],
  ],
  // Has no 30 December in 2011, and no summer time since 2021.
  'Pacific/Apia': [
    ['0 9 * * *', '2011-12-28T20:00Z', ['2011-12-29T09:00-10:00', '2011-12-31T09:00+14:00']],
    [
      '0 */12 * * *',
      '2011-12-29T12:00Z',
      ['2011-12-29T12:00-10:00', '2011-12-31T00:00+14:00', '2011-12-31T12:00+14:00'],
    ],
    ['0 9 30 12 *', '2011-12-01T00:00Z', ['2012-12-30T09:00+14:00']],
    ['30 3 * * *', '2021-04-02T14:00Z', ['2021-04-04T03:30+14:00', '2021-04-05T03:30+13:00']],
    ['30 3 * * *', '2021-09-24T14:00Z', ['2021-09-25T03:30+13:00', '2021-09-26T03:30+13:00']],
  ],
  // Summer time except in Ramadan: the clock is set back in February and forward in March.
  'Africa/Casablanca': [
    ['30 2 * * *', '2026-02-14T12:00Z', ['2026-02-15T02:30+01:00', '2026-02-16T02:30+00:00']],
    [
      '*/30 2 * * *',
      '2026-02-15T01:10Z',
      ['2026-02-15T02:30+01:00', '2026-02-15T02:00+00:00', '2026-02-15T02:30+00:00'],
    ],
    ['30 2 * * *', '2026-03-21T12:00Z', ['2026-03-22T03:00+01:00', '2026-03-23T02:30+01:00']],
  ],
  // Until 2019, days began at 01:00 or had two midnights.
  'America/Sao_Paulo': [
    ['30 0 * * *', '2018-11-03T12:00Z', ['2018-11-04T01:00-02:00', '2018-11-05T00:30-02:00']],
    ['30 23 * * *', '2018-02-17T12:00Z', ['2018-02-17T23:30-02:00', '2018-02-18T23:30-03:00']],
    ['30 0 * * *', '2026-11-01T12:00Z', ['2026-11-02T00:30-03:00', '2026-11-03T00:30-03:00']],
  ],
  'Asia/Kathmandu': [['0 9 * * *', '2026-03-28T12:00Z', ['2026-03-29T09:00+05:45', '2026-03-30T09:00+05:45']]],
  // The clock is set forward at midnight: the day begins at 01:00.
  'America/Asuncion': [['0 0 * * *', '2023-09-30T12:00Z', ['2023-10-01T01:00-03:00', '2023-10-02T00:00-03:00']]],
  'America/Havana': [
    ['0 0 * * *', '2026-03-07T12:00Z', ['2026-03-08T01:00-04:00', '2026-03-09T00:00-04:00']],
    ['30 0 * * *', '2026-10-31T12:00Z', ['2026-11-01T00:30-04:00', '2026-11-02T00:30-05:00']],
  ],
  'Asia/Beirut': [
    ['15 0 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00+03:00', '2026-03-30T00:15+03:00']],
    ['*/15 0 * * *', '2026-03-28T12:00Z', ['2026-03-30T00:00+03:00', '2026-03-30T00:15+03:00']],
  ],
  // The gap lies before midnight, so missing times are due on the next day.
  'America/Nuuk': [['30 23 * * *', '2026-03-28T12:00Z', ['2026-03-29T00:00-01:00', '2026-03-29T23:30-01:00']]],
  // A change of two hours.
  'Antarctica/Troll': [['30 1 * * *', '2026-03-28T12:00Z', ['2026-03-29T03:00+02:00', '2026-03-30T01:30+02:00']]],
  '+05:30': [['0 9 * * *', '2026-03-28T12:00Z', ['2026-03-29T09:00+05:30']]],
};

for (const [tz, cases] of Object.entries(CASES)) {
  test(`the clock of ${tz}`, () => {
    for (const [expr, after, expected] of cases) {
      assert.deepEqual(nextLocalTimes(tz, expr, { after, count: expected.length }), expected, `${expr} after ${after}`);
    }
  });
}

test('seconds count in a gap and in a repeated hour', () => {
  const nextInBerlin = (expr: string, after: string) => {
    const atMs = nextInstant(readExpression(expr), 'Europe/Berlin', Date.parse(after));
    return atMs === undefined ? undefined : new Date(atMs).toISOString();
  };
  assert.equal(nextInBerlin('15 30 2 * * *', '2027-03-28T00:00Z'), '2027-03-28T01:00:00.000Z');
  assert.equal(nextInBerlin('15 30 2 * * *', '2027-10-31T00:00Z'), '2027-10-31T00:30:15.000Z');
  assert.equal(nextInBerlin('*/20 30 2 * * *', '2027-10-31T00:30:40Z'), '2027-10-31T01:30:00.000Z');
  assert.equal(nextInBerlin('* * * * * *', '2027-03-28T00:59:59.500Z'), '2027-03-28T01:00:00.000Z');
});

test('a rhythm whose times always fall into gaps never fires', () => {
  assert.equal(nextInstant(readExpression('* 2 * 3 SUNL'), 'Europe/Berlin', Date.UTC(2026, 0, 1)), undefined);
});

function nextLocalTimes(tz: string, expr: string, { after, count }: { after: string; count: number }): string[] {
  const calendar = readExpression(expr);
  const found: string[] = [];
  for (let atMs = Date.parse(after); found.length < count; ) {
    const nextMs = nextInstant(calendar, tz, atMs);
    if (nextMs === undefined) break;
    const { local, offset } = toLocalTime(tz, nextMs);
    found.push(local.replace(/:00$/, '') + offset);
    atMs = nextMs;
  }
  return found;
}
