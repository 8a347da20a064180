import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTime } from './date-time-text.ts';

/** 13:00 in Berlin. */
const context = { nowMs: Date.UTC(2026, 10, 21, 12), tz: 'Europe/Berlin' };
const instant = (text: string) => {
  const found = parseTime(text, context);
  return 'atMs' in found ? new Date(found.atMs).toISOString() : found.problem;
};

test('a time may be in the past, and a time of day means today', () => {
  assert.equal(instant('2020-02-29 18:00'), '2020-02-29T17:00:00.000Z');
  assert.equal(instant('09:00'), '2026-11-21T08:00:00.000Z');
  assert.equal(instant('18:00:30'), '2026-11-21T17:00:30.000Z');
  assert.equal(instant('2026-11-22T14:25:46.764Z'), '2026-11-22T14:25:46.764Z');
  assert.equal(instant('18:00:30.5'), '2026-11-21T17:00:30.500Z');
  assert.equal(instant('1:00 Asia/Tokyo'), '2026-11-20T16:00:00.000Z');
});

test('an invalid time is reported with the reason', () => {
  assert.match(instant('yesterday'), /^"yesterday" is not a time: write it like "18:00", "2026-12-24 18:00"/);
  assert.equal(instant('2026-02-30 18:00'), '"2026-02-30 18:00" is not a date: February 2026 has 28 days');
  assert.equal(instant('2028-02-30'), '"2028-02-30" is not a date: February 2028 has 29 days');
  assert.equal(instant('2000-02-29'), '2000-02-28T23:00:00.000Z');
  assert.equal(instant('2100-02-29'), '"2100-02-29" is not a date: February 2100 has 28 days');
  assert.equal(instant('2026-04-00'), '"2026-04-00" is not a date: April 2026 has 30 days');
  assert.equal(instant('2026-13-01'), '"2026-13-01" is not a date: there are 12 months');
  for (const text of ['2026-12-24 24:00', '2026-12-24 18:60', '2026-12-24 18:00:60']) {
    assert.equal(instant(text), `"${text}" is not a time: a day goes from 00:00 to 23:59:59`);
  }
  assert.equal(instant('1969-12-31 18:00'), '"1969-12-31 18:00" is before 1970');
  assert.match(instant('18:00 Europe/Atlantis'), /^"Europe\/Atlantis" is not a known time zone/);
});
