import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { recordingLog } from '../testing/temp-store.ts';
import type { Begun } from './executor.ts';
import type { Attempt } from './jobs/job-end.ts';
import { someJob } from './jobs/job-fixture.ts';
import type { Claim, OpenOccurrence, Outcome } from './occurrence.ts';
import { OccurrenceRun, type Readiness } from './occurrence-run.ts';

const NOW_MS = 1_000_000;
const CLAIM: Claim = { jobId: 'job_1', scheduledMs: NOW_MS, trigger: 'schedule', epoch: 1, attempts: 0 };
const STARTED: OpenOccurrence = {
  ...{ ...CLAIM, attempts: 1, epoch: 2 },
  ...{ status: 'started', owner: 'before', leaseMs: 0, runId: 'run-1', startedMs: NOW_MS - 60_000, spentMs: 0 },
};
const later = Object.assign(new Error('the queue is full'), { retryable: true });

interface Options {
  /** The result of each start; the last one is used for all later starts. */
  tries: readonly (Error | 'begun' | 'lost')[];
  started?: OpenOccurrence;
  maxRunMs?: number;
  /** How long a start waits before it is recorded, and after that. */
  waitsMs?: readonly [before: number, after: number];
  readiness?: () => Readiness;
}

function carriedOut({
  tries,
  started,
  maxRunMs = 3_600_000,
  waitsMs: [before, after] = [0, 0],
  readiness = () => undefined,
}: Options) {
  const clock = fakeClock(NOW_MS);
  const stop = new AbortController();
  const work = Promise.withResolvers<Outcome>();
  const seen = { tries: [] as string[], started: [] as number[], stops: [] as string[], unheeded: 0 };
  const begin = async (how: string): Promise<Begun | undefined> => {
    const next = tries[Math.min(seen.tries.length, tries.length - 1)];
    seen.tries.push(how);
    if (next === 'lost') return undefined;
    if (next !== 'begun') throw next;
    if (before > 0) await clock.sleep(before, stop.signal);
    const startedMs = started?.startedMs ?? clock.now();
    if (after > 0) await clock.sleep(after, stop.signal);
    return { startedMs, ended: work.promise, stop: (reason) => void seen.stops.push(reason) };
  };
  const run = new OccurrenceRun(
    {
      ...{ clock, log: recordingLog(), onStarted: (_job, startedMs) => void seen.started.push(startedMs) },
      executor: { begin: () => begin('begin'), resume: () => begin('resume') },
    },
    { job: someJob({ maxRunMs }), claim: started ?? CLAIM, ...(started && { started }) },
  );
  const attempt = run.carryOut({
    stopping: stop.signal,
    recheck: () => readiness(),
    onUnheeded() {
      seen.unheeded += 1;
    },
  });
  attempt.catch(() => undefined); // awaited later
  return { clock, stop, work, seen, run, attempt };
}
function attemptOf(attempt: Attempt | 'hold' | undefined): Attempt {
  assert.ok(typeof attempt === 'object');
  return attempt;
}

const settled = () => new Promise(setImmediate);

test('an attempt reports when it began, how long it took by the steady clock, and how it ended', async () => {
  const { clock, work, seen, run, attempt } = carriedOut({ tries: ['begun'] });
  await settled();
  assert.deepEqual([run.isStarted, run.startedMs, seen.started], [true, NOW_MS, [NOW_MS]]);
  await clock.advance(5_000);
  clock.jump(-3_600_000);
  work.resolve({ status: 'ok', summary: 'done' });
  assert.deepEqual(await attempt, {
    ...{ claim: CLAIM, outcome: { status: 'ok', summary: 'done' } },
    ...{ startedMs: NOW_MS, durationMs: 5_000, endedMs: NOW_MS + 5_000 - 3_600_000 },
  });
});

test('a start that fails temporarily is retried with growing waits, then given up', async () => {
  const early = carriedOut({ tries: [later, later, 'begun'] });
  for (const [ms, tries] of [
    [0, 1],
    [999, 1],
    [1, 2],
    [1_999, 2],
    [1, 3],
  ] as const) {
    await early.clock.advance(ms);
    await settled();
    assert.equal(early.seen.tries.length, tries);
  }
  assert.equal(early.run.isStarted, true);

  const never = carriedOut({ tries: [later] });
  for (let second = 0; second < 1_200; second += 1) {
    await never.clock.advance(1_000);
    await settled();
  }
  const { outcome, startedMs } = attemptOf(await never.attempt);
  assert.deepEqual([outcome, startedMs], [{ status: 'error', error: 'the queue is full' }, undefined]);
  assert.equal(never.seen.tries.length, 36);
});

test('a start that is retried is checked before each try, and resuming is not', async () => {
  let readiness: Readiness;
  const over = carriedOut({ tries: [later], readiness: () => readiness });
  await settled();
  readiness = { status: 'skipped', error: 'The job was removed before it began' };
  await over.clock.advance(1_000);
  const { claim, outcome, startedMs } = attemptOf(await over.attempt);
  assert.deepEqual([claim, outcome, startedMs, over.seen.tries.length], [CLAIM, readiness, undefined, 1]);
  assert.equal(over.run.whyNotStarted, 'it could not start: the queue is full');
  readiness = 'hold';
  assert.equal(await carriedOut({ tries: ['begun'], readiness: () => readiness }).attempt, 'hold');
  const resumed = carriedOut({ tries: ['begun'], readiness: () => readiness, started: STARTED });
  await settled();
  assert.deepEqual(resumed.seen.tries, ['resume']);
});

test('a permanent failure is an error at once, and a claim that another scheduler took has no outcome', async () => {
  const refused = carriedOut({ tries: [new Error('no such channel')] });
  assert.deepEqual(attemptOf(await refused.attempt).outcome, { status: 'error', error: 'no such channel' });
  assert.equal(refused.seen.tries.length, 1);
  assert.equal(await carriedOut({ tries: ['lost'] }).attempt, undefined);
});

test('a run begun by the last process is resumed as the same attempt, without a second event', async () => {
  const { clock, work, seen, run, attempt } = carriedOut({ tries: [new Error('not yet'), 'begun'], started: STARTED });
  assert.equal(run.isStarted, true);
  await settled();
  await clock.advance(1_000);
  work.resolve({ status: 'ok' });
  const { claim, startedMs, durationMs } = attemptOf(await attempt);
  assert.deepEqual([claim.attempts, startedMs, durationMs], [0, NOW_MS - 60_000, 61_000]);
  assert.deepEqual([seen.tries, seen.started], [['resume', 'resume'], []]);
});

test('a run begun by the last process that no longer exists is interrupted', async () => {
  const { outcome } = attemptOf(await carriedOut({ tries: ['lost'], started: STARTED }).attempt);
  assert.equal(outcome.status, 'interrupted');
});

test('the watchdog stops a run that takes too long, and reports when the stop is ignored', async () => {
  const { clock, work, seen, attempt } = carriedOut({ tries: ['begun'], maxRunMs: 90_000 });
  await settled();
  await clock.advance(89_999);
  assert.deepEqual(seen.stops, []);
  await clock.advance(1);
  assert.deepEqual(seen.stops, ["It ran longer than 90 s, the job's maxRunMs"]);
  await clock.advance(59_999);
  assert.equal(seen.unheeded, 0);
  await clock.advance(1);
  assert.equal(seen.unheeded, 1);
  work.resolve({ status: 'ok' });
  assert.equal(attemptOf(await attempt).outcome.status, 'ok');
});

test('working time before a restart counts for the watchdog, and its reason has the configured limit', async () => {
  const started = { ...STARTED, spentMs: 60_000 };
  const { clock, seen, run } = carriedOut({ tries: ['begun'], started, maxRunMs: 61_500 });
  await settled();
  await clock.advance(1_499);
  assert.deepEqual([run.spentMs, seen.stops], [61_499, []]);
  await clock.advance(1);
  assert.deepEqual(seen.stops, ["It ran longer than 61.5 s, the job's maxRunMs"]);
  const late = carriedOut({ tries: [later, 'begun'], started, maxRunMs: 61_500 });
  await settled();
  await late.clock.advance(1_000);
  await settled();
  await late.clock.advance(500);
  assert.equal(late.seen.stops.length, 1, 'the run continues while no caller can reach it');
  const over = carriedOut({ tries: ['begun'], started, maxRunMs: 1_000 });
  await settled();
  await over.clock.advance(0);
  assert.equal(over.seen.stops.length, 1);
});

test('the time waiting for a start is not working time', async () => {
  const { clock, work, run, attempt } = carriedOut({ tries: [later, 'begun'] });
  await settled();
  await clock.advance(1_000);
  await settled();
  await clock.advance(2_000);
  assert.equal(run.spentMs, 2_000);
  work.resolve({ status: 'ok' });
  assert.equal(attemptOf(await attempt).durationMs, 2_000);
});

test('a start that is recorded late leaves the run its whole time, and what passes after the record counts', async () => {
  const { clock, seen, run } = carriedOut({ tries: ['begun'], maxRunMs: 30_000, waitsMs: [60_000, 5_000] });
  for (const ms of [60_000, 5_000, 24_999]) {
    await clock.advance(ms);
    await settled();
  }
  assert.deepEqual([run.startedMs, run.spentMs, seen.stops], [NOW_MS + 60_000, 29_999, []]);
  await clock.advance(1);
  assert.equal(seen.stops.length, 1);

  const back = carriedOut({ tries: ['begun'], waitsMs: [0, 5_000] });
  await back.clock.advance(4_000);
  back.clock.jump(-3_600_000);
  await back.clock.advance(1_000);
  await settled();
  assert.equal(back.run.spentMs, 0, 'the clock was set back');
  const ahead = carriedOut({ tries: ['begun'], waitsMs: [1_000, 5_000] });
  await ahead.clock.advance(1_000);
  await settled();
  ahead.clock.jump(3_600_000);
  await ahead.clock.advance(5_000);
  await settled();
  assert.equal(ahead.run.spentMs, 6_000, 'the clock was set forward');
});

test('a run that has ended is not stopped', async () => {
  const { clock, work, seen, attempt } = carriedOut({ tries: ['begun'], maxRunMs: 90_000 });
  await settled();
  work.resolve({ status: 'ok' });
  await attempt;
  await clock.advance(3_600_000);
  assert.deepEqual([seen.stops, seen.unheeded], [[], 0]);
});

test('when the daemon stops, runs that have not begun are left to the next start', async () => {
  const { stop, attempt } = carriedOut({ tries: [later] });
  await settled();
  stop.abort();
  await assert.rejects(attempt, { name: 'AbortError' });
});
