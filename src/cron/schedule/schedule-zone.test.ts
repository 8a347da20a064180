import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byFormat, offsetMsAt, placeWall, resolveTimeZone, toLocalTime, transitionBetween } from './schedule-zone.ts';

const HOUR_MS = 3_600_000;

test('a zone keeps its name as written, ignoring case; without a zone, the host’s applies', () => {
  assert.equal(resolveTimeZone('europe/BERLIN', 'UTC'), 'Europe/Berlin');
  assert.equal(resolveTimeZone(undefined, 'Asia/Tokyo'), 'Asia/Tokyo');
  assert.equal(resolveTimeZone('US/Eastern', 'UTC'), 'US/Eastern');
  assert.equal(resolveTimeZone(' UTC ', 'Asia/Tokyo'), 'UTC');
  assert.equal(resolveTimeZone('Europe/Atlantis', 'UTC'), undefined);
  assert.equal(resolveTimeZone('', 'UTC'), undefined);
});

test('offsets are exact to the second', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', '-02:15'];
  const januaryMs = Date.UTC(2027, 0, 1);
  assert.deepEqual(
    zones.map((tz) => offsetMsAt(tz, januaryMs) / HOUR_MS),
    [0, 1, -3.5, 5.75, -2.25],
  );
  assert.deepEqual(toLocalTime('Africa/Monrovia', 0), { local: '1969-12-31T23:15:30', offset: '-00:44:30' });
  assert.deepEqual(toLocalTime('UTC', 1_500), { local: '1970-01-01T00:00:01', offset: '+00:00' });
});

test('every zone has the offset that its formatted times show', () => {
  const years = [1890, 1970, 2026, 2027.5, 2199];
  for (const tz of [...Intl.supportedValuesOf('timeZone'), 'US/Eastern', 'utc', '+05:30', '-02:15', 'Etc/GMT+3']) {
    const ask = byFormat(tz);
    for (const year of years) {
      const atMs = Math.round((year - 1970) * 31_556_952_000);
      assert.equal(offsetMsAt(tz, atMs) - ask(atMs), 0, `${tz} in ${year}`);
    }
  }
});

test('more zones than fit into the cache have their own offsets', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  const first = zones.map((tz) => offsetMsAt(tz, 0));
  assert.deepEqual(
    zones.map((tz) => offsetMsAt(tz, 0)),
    first,
  );
});

test('a wall time occurs once, twice or never', () => {
  const gap = { atMs: Date.UTC(2027, 2, 28, 1), fromOffsetMs: HOUR_MS, toOffsetMs: 2 * HOUR_MS };
  assert.deepEqual(placeWall('Europe/Berlin', Date.UTC(2027, 2, 28, 2, 30)), { kind: 'never', gap });
  assert.deepEqual(placeWall('Europe/Berlin', Date.UTC(2027, 2, 28, 2)), { kind: 'never', gap });
  assert.deepEqual(placeWall('Europe/Berlin', Date.UTC(2027, 2, 28, 3)), { kind: 'once', atMs: gap.atMs });
  assert.deepEqual(placeWall('Europe/Berlin', Date.UTC(2027, 9, 31, 2)), {
    kind: 'twice',
    firstMs: Date.UTC(2027, 9, 31, 0),
    secondMs: Date.UTC(2027, 9, 31, 1),
  });
  assert.deepEqual(placeWall('Europe/Berlin', Date.UTC(2027, 9, 31, 3)), {
    kind: 'once',
    atMs: Date.UTC(2027, 9, 31, 2),
  });
});

test('a change is found to the second', () => {
  const change = transitionBetween('Europe/Berlin', Date.UTC(2027, 2, 27) + 1, Date.UTC(2027, 2, 29) + 999);
  assert.equal(change.atMs, Date.UTC(2027, 2, 28, 1));
});
