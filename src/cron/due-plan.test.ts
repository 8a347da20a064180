import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronMisfire } from '../../protocol/cron.ts';
import { planDue, planGivenUp, planSkipped } from './due-plan.ts';
import { someJob } from './jobs/job-fixture.ts';

const HOUR_MS = 3_600_000;
const NONE: ReadonlySet<number> = new Set();
const hourly = (misfire: CronMisfire, more = {}) => ({
  ...someJob({ schedule: { kind: 'every', everyMs: HOUR_MS, anchorMs: 0 }, misfire, ...more }),
  nextMs: HOUR_MS,
});
const plan = (job: ReturnType<typeof hourly>, nowMs: number, taken = NONE) =>
  planDue(job, { nowMs, why: 'asleep', taken });
const missed = (hour: number, reason: string) => ({
  ...{ fromMs: hour * HOUR_MS, throughMs: hour * HOUR_MS, count: 1, status: 'missed' as const },
  reason: `asleep; ${reason}`,
});

test('an instant noticed within a minute runs, whatever the policy', () => {
  for (const misfire of ['once', 'skip', 'all', { all: 1 }, { within: 1 }] satisfies CronMisfire[]) {
    for (const lateMs of [0, 60_000]) {
      assert.deepEqual(plan(hourly(misfire), HOUR_MS + lateMs), {
        ...{ settled: [], runMs: HOUR_MS, nextMs: 2 * HOUR_MS, handledMs: HOUR_MS },
      });
    }
  }
});

test('once: the latest runs, and the others were missed', () => {
  assert.deepEqual(plan(hourly('once'), 3 * HOUR_MS + 1_800_000), {
    settled: [1, 2].map((hour) => missed(hour, 'a later occurrence ran instead')),
    ...{ runMs: 3 * HOUR_MS, nextMs: 4 * HOUR_MS, handledMs: 3 * HOUR_MS },
  });
});

test('skip: late instants are missed', () => {
  assert.deepEqual(plan(hourly('skip'), 2 * HOUR_MS + 60_001), {
    settled: [1, 2].map((hour) => missed(hour, 'its policy skips occurrences more than 60 s late')),
    ...{ runMs: undefined, nextMs: 3 * HOUR_MS, handledMs: 2 * HOUR_MS },
  });
});

test('within: the latest runs as long as it is not too old', () => {
  const job = hourly({ within: 600_000 });
  assert.equal(plan(job, HOUR_MS + 600_000).runMs, HOUR_MS);
  assert.deepEqual(plan(job, HOUR_MS + 600_001), {
    settled: [missed(1, 'it was then more than 600 s late')],
    ...{ runMs: undefined, nextMs: 2 * HOUR_MS, handledMs: HOUR_MS },
  });
});

test('all: the latest ten run one after another', () => {
  const first = plan(hourly('all'), 12 * HOUR_MS);
  assert.deepEqual(
    [first.settled.map(({ fromMs }) => fromMs / HOUR_MS), first.runMs, first.nextMs, first.handledMs],
    [[1, 2], 3 * HOUR_MS, 4 * HOUR_MS, 3 * HOUR_MS],
  );
  const second = planDue({ ...hourly('all'), nextMs: 4 * HOUR_MS }, { nowMs: 12 * HOUR_MS, why: '', taken: NONE });
  assert.deepEqual([second.settled, second.runMs, second.nextMs], [[], 4 * HOUR_MS, 5 * HOUR_MS]);
});

test('the configured number runs one after another', () => {
  for (const all of [1, 3, 100]) {
    const job = hourly({ all });
    const { settled, runMs, nextMs } = plan(job, 1_000 * HOUR_MS);
    const first = 1_001 - all;
    assert.deepEqual([runMs, nextMs], [first * HOUR_MS, (first + 1) * HOUR_MS]);
    assert.deepEqual(
      settled.map(({ throughMs, count }) => [throughMs / HOUR_MS, count]),
      [[first - 1, first - 1]],
    );
  }
  assert.deepEqual(plan(hourly({ all: 100 }), 100 * HOUR_MS).settled, []);
});

test('many passed instants share a record that ends right before the one that runs', () => {
  assert.deepEqual(plan(hourly('once'), 1_000 * HOUR_MS).settled, [
    { ...missed(1, 'a later occurrence ran instead'), throughMs: 999 * HOUR_MS, count: 999 },
  ]);
  const daily = {
    ...someJob({ misfire: 'all', schedule: { kind: 'cron', expr: '0 * * * *', tz: 'UTC' } }),
    nextMs: HOUR_MS,
  };
  const { settled, runMs } = planDue(daily, { nowMs: 1_000 * HOUR_MS, why: 'asleep', taken: NONE });
  assert.deepEqual(
    [settled, runMs],
    [[{ ...missed(1, 'a later occurrence ran instead'), throughMs: 990 * HOUR_MS, count: undefined }], 991 * HOUR_MS],
  );
});

test('instants that ran before the clock was set back are skipped', () => {
  const taken = new Set([2 * HOUR_MS, 4 * HOUR_MS, 5 * HOUR_MS]);
  const worked = plan(hourly('once'), 4 * HOUR_MS, taken);
  assert.deepEqual(
    [worked.settled.map(({ fromMs }) => fromMs / HOUR_MS), worked.runMs, worked.nextMs],
    [[1], 3 * HOUR_MS, 6 * HOUR_MS],
  );
  const nothing = plan(hourly('once'), HOUR_MS, new Set([HOUR_MS]));
  assert.deepEqual(nothing, { settled: [], runMs: undefined, nextMs: 2 * HOUR_MS, handledMs: HOUR_MS });
});

test('a paused job does not run', () => {
  const held = hourly('all', { holdMs: 3 * HOUR_MS, failures: 4 });
  const { settled, ...cursor } = plan(held, 5 * HOUR_MS);
  assert.deepEqual(
    settled.map(({ fromMs, status, reason }) => [fromMs / HOUR_MS, status, reason]),
    [1, 2].map((hour) => [hour, 'skipped', 'paused after 4 errors in a row']),
  );
  assert.deepEqual(cursor, { runMs: undefined, nextMs: 3 * HOUR_MS, handledMs: 2 * HOUR_MS });
  assert.equal(
    planDue({ ...held, nextMs: 3 * HOUR_MS }, { nowMs: 3 * HOUR_MS, why: '', taken: NONE }).runMs,
    3 * HOUR_MS,
  );
});

test('a single instant has no next one', () => {
  const job = { ...someJob({ schedule: { kind: 'at', atMs: 5 } }), nextMs: 5 };
  assert.deepEqual(planDue(job, { nowMs: 10 * HOUR_MS, why: '', taken: NONE }), {
    ...{ settled: [], runMs: 5, nextMs: undefined, handledMs: 5 },
  });
});

test('instants that passed while the job could not run are skipped, up to now', () => {
  assert.equal(planSkipped(hourly('once'), { untilMs: HOUR_MS - 1, reason: 'busy', taken: NONE }), undefined);
  const skipped = planSkipped(hourly('once'), { untilMs: 2 * HOUR_MS, reason: 'busy', taken: NONE });
  assert.deepEqual([skipped?.settled.length, skipped?.nextMs, skipped?.handledMs], [2, 3 * HOUR_MS, 2 * HOUR_MS]);
});

test('instants due when their job was changed are given up; those during a pause have that reason', () => {
  const givenUp = (job: ReturnType<typeof hourly>) => {
    const given = planGivenUp(job, { untilMs: 3 * HOUR_MS, reason: 'changed', taken: NONE });
    return given && [given.handledMs / HOUR_MS, given.settled.map(({ status, reason }) => [status, reason])];
  };
  const [paused, changed] = [
    ['skipped', 'paused after 2 errors in a row'],
    ['skipped', 'changed'],
  ];
  assert.deepEqual(givenUp(hourly('once')), [3, [changed, changed, changed]]);
  assert.deepEqual(givenUp(hourly('once', { holdMs: 2 * HOUR_MS + 1, failures: 2 })), [3, [paused, paused, changed]]);
  assert.deepEqual(givenUp(hourly('once', { holdMs: 9 * HOUR_MS, failures: 2 })), [3, [paused, paused, paused]]);
  assert.equal(givenUp({ ...hourly('once'), nextMs: 4 * HOUR_MS }), undefined);
});
