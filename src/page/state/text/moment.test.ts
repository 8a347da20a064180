import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toClock, toCountdown, toDistance, toLength, toMoment } from './moment.ts';

const MINUTE = 60_000;
const now = Date.UTC(2026, 6, 15, 12);

test('past times are shown in words', () => {
  const told = [-5, 0, 1, 59, 61, 24 * 60, 3 * 24 * 60, 30 * 24 * 60].map((minutes) =>
    toMoment(now - minutes * MINUTE, now, 'en'),
  );
  assert.deepEqual(told, [
    ...['just now', 'just now', '1 minute ago', '59 minutes ago', '1 hour ago'],
    ...['yesterday', '3 days ago', 'Jun 15, 2026'],
  ]);
});

test('distances are shown for past and future, in seconds when near', () => {
  const told = [0.7, 5, 200, -5, -3 * 24 * 60].map((minutes) => toDistance(now + minutes * MINUTE, now, 'en'));
  assert.deepEqual(told, ['in 42 seconds', 'in 5 minutes', 'in 3 hours', '5 minutes ago', '3 days ago']);
});

test('a clock time shows today, tomorrow or the date, with the year when far and seconds when not zero', () => {
  const place = { nowMs: now, timeZone: 'Europe/Berlin', locale: 'en-US' };
  const told = [5, 5 + 1 / 60, 11 * 60, 3 * 24 * 60, 400 * 24 * 60].map((minutes) =>
    toClock(now + minutes * MINUTE, place),
  );
  assert.deepEqual(told, [
    ...['today 14:05', 'today 14:05:01', 'tomorrow 01:00', 'Sat, Jul 18, 14:00', 'Thu, Aug 19, 2027, 14:00'],
  ]);
});

test('a duration is shown in its two largest units', () => {
  assert.deepEqual([340, 4_200, 42_000, 200_000, 3_600_000, 7_500_000].map(toLength), [
    ...['340 ms', '4.2 s', '42 s', '3 min 20 s', '1 h', '2 h 5 min'],
  ]);
});

test('a countdown shows minutes and seconds and stops at zero', () => {
  assert.deepEqual([300_000, 299_999, 61_000, 9_400, 0, -5_000].map(toCountdown), [
    ...['5:00', '4:59', '1:01', '0:09', '0:00', '0:00'],
  ]);
});
