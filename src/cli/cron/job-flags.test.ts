import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronExtendedJob } from '../../../protocol/cron.ts';
import { UsageError } from '../../start-error.ts';
import { type EditFlags, type JobFlags, readSchedule, readTime, toJobPatch, toNewJob } from './job-flags.ts';

const here = { nowMs: Date.UTC(2026, 10, 20, 12), tz: 'Europe/Berlin' };
const every = { kind: 'every', everyMs: 900_000 } as const;

const job: CronExtendedJob = {
  ...{ id: 'job', revision: 7, name: 'mail', enabled: true, createdAtMs: 1, updatedAtMs: 1 },
  schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'Europe/Berlin' },
  ...{ sessionTarget: 'isolated', wakeMode: 'next-heartbeat' },
  payload: { kind: 'agentTurn', message: 'look', thinking: 'low', timeoutSeconds: 60 },
  state: {},
  ...{ misfire: 'once', deleteAfterRun: false, maxRunMs: 3_600_000, approval: { mode: 'deny' } },
};
const told: CronExtendedJob = { ...job, sessionTarget: 'main', payload: { kind: 'systemEvent', text: 'look' } };

const optionsOf = (flags: JobFlags) => {
  const { schedule: _s, sessionTarget: _t, wakeMode: _w, payload: _p, ...options } = toNewJob(every, 'go', flags);
  return options;
};
const patch = (flags: EditFlags, of = job) => toJobPatch(of, flags, here);
const scheduleOf = (text: string, tz?: string) => readSchedule(text, tz, here).schedule;
const refuses = (run: () => unknown, pattern: RegExp) =>
  assert.throws(run, (error) => error instanceof UsageError && pattern.test(error.message));

test('a schedule uses the terminal’s time zone, that of --tz, or the one it names', () => {
  const at = (atMs: number) => ({ kind: 'at', atMs });
  assert.deepEqual(scheduleOf('every 15m'), every);
  assert.deepEqual(scheduleOf('at 2026-12-24 18:00'), at(Date.UTC(2026, 11, 24, 17)));
  assert.deepEqual(scheduleOf('at 2026-12-24 18:00', 'Asia/Tokyo'), at(Date.UTC(2026, 11, 24, 9)));
  assert.deepEqual(scheduleOf('0 9 * * 1-5 UTC', 'Asia/Tokyo'), { kind: 'cron', expr: '0 9 * * 1-5', tz: 'UTC' });
});

test('an invalid schedule is wrong usage with the reason', () => {
  refuses(() => scheduleOf('sometimes'), /"sometimes" is not a schedule/);
  refuses(() => scheduleOf('0 25 * * *'), /^The schedule: "0 25 \* \* \*" cannot be read: invalid hour "25"/);
  refuses(() => scheduleOf('every 15m', 'Mars/Olympus'), /--tz: "Mars\/Olympus" is not a known time zone/);
});

test('a time is read like a schedule, and its errors speak of a time', () => {
  assert.deepEqual(readTime('2020-12-24 18:00', undefined, here), { atMs: Date.UTC(2020, 11, 24, 17) });
  assert.deepEqual(readTime('09:00', 'UTC', here), { atMs: Date.UTC(2026, 10, 20, 9) });
  refuses(() => readTime('yesterday', undefined, here), /^The time: "yesterday" is not a time: write it like "18:00"/);
});

test('a job runs in a separate conversation, or with --main in the main one', () => {
  assert.deepEqual(toNewJob(every, 'go', {}), {
    ...{ schedule: every, sessionTarget: 'isolated', wakeMode: 'next-heartbeat' },
    payload: { kind: 'agentTurn', message: 'go' },
  });
  assert.equal(toNewJob(every, 'go', { node: 'box_1' }).nodeId, 'box_1');
  assert.deepEqual(toNewJob(every, 'go', { main: true }), {
    ...{ schedule: every, sessionTarget: 'main', wakeMode: 'now' },
    payload: { kind: 'systemEvent', text: 'go' },
  });
});

const NOT_FOR_MAIN: [JobFlags, RegExp][] = [
  [{ bestEffort: true }, /^--best-effort is only for jobs/],
  [{ approval: 'allow=bash' }, /^--approval is only for jobs/],
  [{ prefix: 'News' }, /^--prefix is only for jobs/],
  [{ deliver: false }, /^--no-deliver is only for jobs/],
];

test('the flags of a turn become its payload; --channel implies --deliver', () => {
  const flags = { thinking: 'high', timeout: '90s', channel: 'webhook', to: 'team', bestEffort: true, wake: 'now' };
  const { payload, wakeMode } = toNewJob(every, 'go', flags);
  assert.deepEqual(
    [payload, wakeMode],
    [
      {
        ...{ kind: 'agentTurn', message: 'go', thinking: 'high', timeoutSeconds: 90 },
        ...{ deliver: true, channel: 'webhook', to: 'team', bestEffortDeliver: true },
      },
      'now',
    ],
  );
  refuses(
    () => toNewJob(every, 'go', { main: true, deliver: true }),
    /--deliver is only for jobs in a separate conversation/,
  );
  for (const [more, wrong] of NOT_FOR_MAIN) refuses(() => toNewJob(every, 'go', { main: true, ...more }), wrong);
});

test('policies are parsed from their flags', () => {
  assert.deepEqual(optionsOf({ misfire: 'within=2h', approval: 'wait=10m', maxRun: '30m', name: 'n' }), {
    ...{ name: 'n', misfire: { within: 7_200_000 }, maxRunMs: 1_800_000 },
    approval: { mode: 'wait', timeoutMs: 600_000 },
  });
  assert.deepEqual(optionsOf({ misfire: 'skip', approval: 'allow=bash,read_file', deleteAfterRun: true }), {
    ...{ misfire: 'skip', deleteAfterRun: true },
    approval: { mode: 'allow', tools: ['bash', 'read_file'] },
  });
  assert.deepEqual(optionsOf({ approval: 'wait' }), { approval: { mode: 'wait' } });
  assert.deepEqual(optionsOf({ approval: 'deny', misfire: 'all' }), { approval: { mode: 'deny' }, misfire: 'all' });
  assert.deepEqual(optionsOf({ misfire: 'all=20' }), { misfire: { all: 20 } });
});

const WRONG: [JobFlags, RegExp][] = [
  [{ misfire: 'maybe' }, /--misfire must be/],
  [{ misfire: 'all=101' }, /--misfire all must be a number from 1 to 100, not "101"/],
  [{ misfire: 'all=0' }, /--misfire all must be/],
  [{ misfire: 'all=' }, /--misfire all must be/],
  [{ misfire: 'skip=1' }, /--misfire must be once, skip, all, all=20 or within=2h/],
  [{ misfire: 'within=soon' }, /--misfire within must be a time/],
  [{ approval: 'allow' }, /--approval must be/],
  [{ approval: 'deny=1' }, /--approval must be/],
  [{ approval: 'wait=0s' }, /--approval wait must be a time/],
  [{ wake: 'later' }, /--wake must be now or next/],
  [{ maxRun: '1' }, /--max-run must be a time/],
  [{ timeout: 'long' }, /--timeout must be a time/],
];
for (const [flags, pattern] of WRONG)
  test(`${JSON.stringify(flags)} is refused with the name of its flag`, () =>
    refuses(() => toNewJob(every, 'go', flags), pattern));

test('a change contains the given flags and keeps the rest of the payload', () => {
  assert.deepEqual(patch({ message: 'look again', thinking: 'high' }), {
    payload: { kind: 'agentTurn', message: 'look again', thinking: 'high', timeoutSeconds: 60 },
  });
  assert.deepEqual(patch({ disable: true, name: 'post' }), { enabled: false, name: 'post' });
  assert.deepEqual(patch({ schedule: 'every 15m', enable: true }), { schedule: every, enabled: true });
  assert.deepEqual(patch({ tz: 'UTC' }), { schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'UTC' } });
  assert.deepEqual(patch({ wake: 'next', maxRun: '5m' }, told), { wakeMode: 'next-heartbeat', maxRunMs: 300_000 });
});

test('a job keeps its text when it moves between the main conversation and a separate one', () => {
  assert.deepEqual(patch({ main: true }), { sessionTarget: 'main', payload: { kind: 'systemEvent', text: 'look' } });
  assert.deepEqual(patch({ isolated: true, thinking: 'low' }, told), {
    sessionTarget: 'isolated',
    payload: { kind: 'agentTurn', message: 'look', thinking: 'low' },
  });
});

test('an empty or contradictory change is wrong usage', () => {
  refuses(() => patch({}), /Nothing to change/);
  refuses(() => patch({ enable: true, disable: true }), /^Use either --enable or --disable\.$/);
  refuses(() => patch({ main: true, isolated: true }), /^Use either --main or --isolated\.$/);
  refuses(() => patch({ tz: 'UTC' }, { ...job, schedule: every }), /--tz without --schedule/);
  refuses(() => patch({ thinking: 'low' }, told), /--thinking is only for jobs/);
});
