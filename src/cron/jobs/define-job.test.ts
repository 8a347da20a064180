import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { issuesOf } from '../../../protocol/parse.ts';
import { changedJob, newJob } from './define-job.ts';

const NOW = Date.UTC(2026, 10, 20, 12); // a Friday
const DAY_MS = 86_400_000;
const when = { nowMs: NOW, hostTimeZone: 'Europe/Berlin' };
const EVERY = { kind: 'every', everyMs: 60_000 } as const;
const ISOLATED = {
  sessionTarget: 'isolated',
  wakeMode: 'next-heartbeat',
  payload: { kind: 'agentTurn', message: 'Look for new issues\nand sum them up' },
} as const;

type Asked = Parameters<typeof newJob>[0];
const make = (more: Partial<Asked> = {}, nowMs = NOW) =>
  newJob({ schedule: EVERY, ...ISOLATED, ...more }, { ...when, nowMs, id: 'j' });
const cron = (expr: string, tz?: string) => ({ kind: 'cron', expr, ...(tz !== undefined && { tz }) }) as const;

test('values from the host are fixed when the job is created: anchor, zone, name', () => {
  const job = make();
  assert.deepEqual([job.schedule, job.nextMs], [{ ...EVERY, anchorMs: NOW }, NOW + 60_000]);
  assert.equal(job.name, 'Look for new issues');
  assert.deepEqual(make({ schedule: cron('0 9 * * *') }).schedule, cron('0 9 * * *', 'Europe/Berlin'));
});

test('a job with one past time is due at once; once recorded, it is neither due again nor can be enabled', () => {
  const job = make({ schedule: { kind: 'at', atMs: 1_000 } });
  assert.equal(job.nextMs, 1_000);
  const done = { ...job, enabled: false, nextMs: undefined, handledMs: 1_000 };
  const again = { enabled: true, schedule: done.schedule };
  for (const patch of [again, { enabled: true }]) {
    assert.throws(() => changedJob(done, patch, when), { code: 'INVALID_REQUEST', message: /^enabled: .* is over/ });
  }
  assert.equal(changedJob({ ...done, enabled: true }, again, when).nextMs, undefined);
  assert.equal(changedJob(done, { enabled: true, schedule: { kind: 'at', atMs: 2_000 } }, when).nextMs, 2_000);
});

test('an equal schedule moves nothing, however it is written', () => {
  const later = { ...when, nowMs: NOW + 90_000 };
  for (const schedule of [EVERY, cron('0 9 * * *'), { kind: 'at', atMs: NOW } as const]) {
    const job = { ...make({ schedule }), failures: 2 };
    for (const same of [schedule, job.schedule]) {
      const changed = changedJob(job, { name: 'new', schedule: same, enabled: true }, later);
      assert.deepEqual(changed, { ...job, name: 'new', revision: 2, updatedMs: later.nowMs });
    }
  }
  const moved = changedJob(make(), { schedule: { ...EVERY, anchorMs: NOW + 1 } }, later);
  assert.deepEqual([moved.sinceMs, moved.nextMs], [later.nowMs, NOW + 120_001]);
});

test('a job cannot get a recorded time again', () => {
  const waiting = { ...make({ schedule: { kind: 'at', atMs: NOW + 1_000 } }), handledMs: NOW };
  const back = { schedule: { kind: 'at', atMs: NOW } } as const;
  assert.throws(() => changedJob(waiting, back, when), {
    code: 'INVALID_REQUEST',
    message: /^schedule\.atMs: .* over/,
  });
});

test('the default misfire policy depends on the schedule and not on the day of creation', () => {
  assert.equal(make().misfire, 'once');
  assert.equal(make({ schedule: { kind: 'at', atMs: NOW } }).misfire, 'once');
  assert.deepEqual(make({ schedule: { kind: 'every', everyMs: 2 * DAY_MS } }).misfire, { within: DAY_MS / 2 });
  assert.deepEqual(make({ schedule: cron('0 9 1 1 *') }).misfire, { within: 7 * DAY_MS });
  for (let day = 0; day < 7; day += 1) {
    const { misfire } = make({ schedule: cron('0 9 * * 1-5') }, NOW + day * DAY_MS);
    assert.deepEqual(misfire, { within: DAY_MS / 4 }, `made ${day} days later`);
  }
});

test('a period below a second is stored as the effective period, which stays on the same grid', () => {
  const shown = (everyMs: number) => {
    const { schedule } = make({ schedule: { kind: 'every', everyMs } });
    return schedule.kind === 'every' && schedule.everyMs;
  };
  assert.deepEqual([1, 300, 999, 1_000, 1_001].map(shown), [1_000, 1_200, 1_998, 1_000, 1_001]);
  const changed = changedJob(make(), { schedule: { kind: 'every', everyMs: 400 } }, when);
  assert.deepEqual(changed.schedule, { kind: 'every', everyMs: 1_200, anchorMs: NOW });
});

test('a new schedule gets its own misfire policy, unless one was chosen explicitly', () => {
  const daily = { schedule: cron('0 9 * * *') };
  assert.deepEqual(changedJob(make(), daily, when).misfire, { within: DAY_MS / 4 });
  assert.equal(changedJob(make({ misfire: 'skip' }), daily, when).misfire, 'skip');
  assert.deepEqual(changedJob(make({ misfire: { within: 5 } }), daily, when).misfire, { within: 5 });
  assert.equal(changedJob(make({ misfire: 'skip' }), { ...daily, misfire: 'all' }, when).misfire, 'all');
});

test('an empty name or prefix restores the default', () => {
  const job = make({ name: 'issues', isolation: { postToMainPrefix: 'News' } });
  assert.equal(changedJob(job, { name: ' ' }, when).name, 'Look for new issues');
  assert.deepEqual(changedJob(job, { isolation: {} }, when).isolation, {});
  assert.deepEqual(changedJob(job, { wakeMode: 'now' }, when).isolation, { postToMainPrefix: 'News' });
});

test('a refused change names the field and leaves the job unchanged', () => {
  const job = make();
  const before = structuredClone(job);
  const refused = (patch: Parameters<typeof changedJob>[1], message: RegExp) =>
    assert.throws(() => changedJob(job, patch, when), { code: 'INVALID_REQUEST', message });
  refused({ sessionTarget: 'main' }, /payload\.kind="systemEvent"/);
  refused({ payload: { kind: 'systemEvent', text: 'x' } }, /payload\.kind="agentTurn"/);
  const refusedFor = (path: string, patch: Parameters<typeof changedJob>[1]) =>
    assert.throws(
      () => changedJob(job, patch, when),
      (error) => {
        assert.ok(error instanceof GatewayError && error.message.startsWith(path));
        assert.deepEqual(
          issuesOf(error.details).map((issue) => issue.path),
          [path],
        );
        return true;
      },
    );
  refusedFor('payload.message', { payload: { kind: 'agentTurn', message: ' ' } });
  refusedFor('schedule.expr', { schedule: cron('61 * * * *') });
  refusedFor('schedule.tz', { schedule: cron('0 9 * * *', 'Mars/Olympus') });
  refusedFor('deleteAfterRun', { deleteAfterRun: true });
  assert.deepEqual(job, before);
});
