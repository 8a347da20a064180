import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeBetween, instantsBetween } from './instants.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const HOURLY = { kind: 'every', everyMs: HOUR_MS, anchorMs: 0 } as const;
const DAILY = { kind: 'cron', expr: '0 9 * * *', tz: 'UTC' } as const;
const nine = (day: number) => day * DAY_MS + 9 * HOUR_MS;
const hours = (...all: number[]) => all.map((hour) => hour * HOUR_MS);

test('both ends are inclusive; an empty range has no instants', () => {
  assert.deepEqual(instantsBetween(HOURLY, { fromMs: HOUR_MS, untilMs: 3 * HOUR_MS }), {
    ...{ latest: hours(1, 2, 3), firstMs: HOUR_MS, count: 3 },
  });
  assert.deepEqual(instantsBetween(HOURLY, { fromMs: HOUR_MS, untilMs: 3 * HOUR_MS - 1 }).latest, hours(1, 2));
  assert.deepEqual(instantsBetween(DAILY, { fromMs: nine(1), untilMs: nine(3) }).latest, [nine(1), nine(2), nine(3)]);
  const once = { kind: 'at', atMs: 5 } as const;
  assert.deepEqual(instantsBetween(once, { fromMs: 5, untilMs: DAY_MS }), { latest: [5], firstMs: 5, count: 1 });
  for (const schedule of [HOURLY, DAILY, once]) {
    assert.deepEqual(instantsBetween(schedule, { fromMs: 9, untilMs: 8 }), { latest: [], firstMs: 9, count: 0 });
  }
});

test('up to 24 instants are listed; of more, the latest and, if possible, the count', () => {
  assert.equal(instantsBetween(HOURLY, { fromMs: HOUR_MS, untilMs: 24 * HOUR_MS }).latest.length, 24);
  const { latest, count } = instantsBetween(HOURLY, { fromMs: HOUR_MS, untilMs: 25 * HOUR_MS });
  assert.deepEqual([latest[0], latest.at(-1), latest.length, count], [2 * HOUR_MS, 25 * HOUR_MS, 24, 25]);

  const exactly = instantsBetween(DAILY, { fromMs: nine(1), untilMs: nine(24) });
  assert.deepEqual([exactly.latest.length, exactly.count], [24, 24]);
  const more = instantsBetween(DAILY, { fromMs: nine(1), untilMs: nine(25), wanted: 10 });
  assert.deepEqual([more.firstMs, more.latest.at(-1), more.count], [nine(1), nine(25), undefined]);
  assert.ok(more.latest.length > 10, 'as many as may be run, and the one before them');
  const last = more.latest.length;
  assert.deepEqual(
    more.latest,
    Array.from({ length: last }, (_, index) => nine(25 - last + 1 + index)),
  );
});

test('the latest of a hundred years are the same as of a month, and are found as quickly', () => {
  const untilMs = nine(36_500);
  const since = (day: number) => instantsBetween(DAILY, { fromMs: nine(day), untilMs, wanted: 10 }).latest.slice(-11);
  assert.deepEqual([since(0).length, since(0)], [11, since(36_500 - 30)]);
  const everySecond = { kind: 'every', everyMs: 1_000, anchorMs: 0 } as const;
  const { latest: seconds, count } = instantsBetween(everySecond, { fromMs: 1_000, untilMs });
  assert.deepEqual([seconds.at(-1), seconds.length, count], [untilMs, 24, untilMs / 1_000]);
});

test('the wanted instants are listed, and the last one before them', () => {
  for (const schedule of [HOURLY, DAILY]) {
    const first = schedule === HOURLY ? HOUR_MS : nine(1);
    const known = (count: number) => {
      const untilMs = first + (count - 1) * (schedule === HOURLY ? HOUR_MS : DAY_MS);
      return instantsBetween(schedule, { fromMs: first, untilMs, wanted: 100 });
    };
    assert.deepEqual([known(101).latest.length, known(101).count], [101, 101]);
    assert.ok(known(5_000).latest.length >= 101, schedule.kind);
  }
});

test('for a schedule with a gap of years, the latest instants lie on both sides of the gap', () => {
  const leap = { kind: 'cron', expr: '*/30 0-5 29 2 *', tz: 'UTC' } as const;
  const from = Date.UTC(2024, 1, 29);
  const { latest, count } = instantsBetween(leap, { fromMs: from, untilMs: Date.UTC(2028, 1, 29, 1) });
  assert.equal(count, 15);
  assert.deepEqual(latest.slice(-4), [
    ...[Date.UTC(2024, 1, 29, 5, 30), Date.UTC(2028, 1, 29), Date.UTC(2028, 1, 29, 0, 30), Date.UTC(2028, 1, 29, 1)],
  ]);
});

test('taken instants split the others into pieces', () => {
  const pieces = (taken: number[], [from, until] = [1, 6]) =>
    freeBetween(HOURLY, { fromMs: from * HOUR_MS, untilMs: until * HOUR_MS, taken: new Set(hours(...taken)) }).map(
      ({ latest }) => latest.map((at) => at / HOUR_MS),
    );
  assert.deepEqual(pieces([]), [[1, 2, 3, 4, 5, 6]]);
  assert.deepEqual(pieces([5, 3]), [[1, 2], [4], [6]], 'in whatever order they are told');
  assert.deepEqual(pieces([1, 6]), [[2, 3, 4, 5]]);
  assert.deepEqual(pieces([3, 4]), [
    [1, 2],
    [5, 6],
  ]);
  assert.deepEqual(pieces([0, 9]), [[1, 2, 3, 4, 5, 6]], 'earlier and later ones do not matter');
  assert.deepEqual(pieces([1], [1, 1]), []);
});

test('a taken time between two instants splits them and removes none', () => {
  const taken = new Set([90 * MINUTE_MS]); // a run by hand
  const pieces = freeBetween(HOURLY, { fromMs: HOUR_MS, untilMs: 3 * HOUR_MS, taken });
  assert.deepEqual(
    pieces.map(({ latest }) => latest),
    [hours(1), hours(2, 3)],
  );
});
