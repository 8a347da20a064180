import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import type { Decision } from '../journal.ts';
import { createApprovalExpiry, expiryAfterRestart, hasExpired } from './approval-expiry.ts';
import type { UnattendedPolicy } from './unattended-policy.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** A question that was just asked, and its decision. */
function asking({ usualMs = HOUR, fails = 0 } = {}) {
  const clock = fakeClock(1_000);
  const log = recordingLog();
  const expiry = createApprovalExpiry({ policy: undefined, usualMs, clock, log });
  const denials: Decision[] = [];
  const over = new AbortController();
  let left = fails;
  const deny = async (denial: Decision) => {
    if (left-- > 0) throw new Error('no disk');
    denials.push(denial);
  };
  const done = expiry.enforce({ approvalId: 'apr_1', expiresAtMs: expiry.stamp(), deny }, over.signal);
  return { clock, log, denials, over, done };
}

test('a question waits as long as the job says, or briefly if only a subscribed approver was asked', () => {
  const waits = (policy: UnattendedPolicy | undefined, usualMs: number) =>
    createApprovalExpiry({ policy, usualMs, clock: fakeClock(), log: recordingLog() }).stamp();
  assert.equal(waits(undefined, HOUR), HOUR);
  assert.equal(waits({ mode: 'wait' }, HOUR), HOUR);
  assert.equal(waits({ mode: 'wait', timeoutMs: 2 * HOUR }, HOUR), 2 * HOUR);
  assert.equal(waits({ mode: 'deny' }, HOUR), 5 * MINUTE);
  assert.equal(waits({ mode: 'allow', tools: ['bash'] }, MINUTE), MINUTE);
});

test('an unanswered question is denied at its expiry, with the timeout as decider', async () => {
  const { clock, denials, done } = asking();
  await clock.advance(HOUR - 1);
  assert.deepEqual(denials, []);
  await clock.advance(1);
  await done;
  const feedback = 'Approval timed out after 1 hour';
  assert.deepEqual(denials, [{ approved: false, feedback, always: false, by: { kind: 'timeout' } }]);
  assert.deepEqual(denials.map(hasExpired), [true]);
});

test('clock changes neither shorten nor extend a question', async () => {
  for (const leap of [24 * HOUR, -24 * HOUR]) {
    const { clock, denials, done } = asking();
    clock.jump(leap);
    await clock.advance(HOUR - 1);
    assert.deepEqual(denials, []);
    await clock.advance(1);
    await done;
    assert.equal(denials.length, 1);
  }
});

test('a question answered in time is not denied', async () => {
  const { clock, denials, over, done } = asking();
  over.abort();
  await done;
  await clock.advance(HOUR);
  assert.deepEqual(denials, []);
});

test('a denial that cannot be stored is retried every second', async () => {
  const { clock, denials, log, done } = asking({ fails: 2 });
  await clock.advance(HOUR);
  await clock.advance(1_999);
  assert.deepEqual(denials, []);
  await clock.advance(1);
  await done;
  assert.equal(denials.length, 1);
  const said: [string, string] = ['warn', 'could not expire an approval; retrying'];
  assert.deepEqual(log.lines, [said, said]);
});

test('after a restart a question has its remaining time, at least ten minutes', () => {
  const asked = { askedMs: 0, expiresAtMs: HOUR };
  const nowMs = 100 * HOUR;
  assert.equal(expiryAfterRestart({ ...asked, lastAliveMs: 20 * MINUTE }, nowMs), nowMs + 40 * MINUTE);
  assert.equal(expiryAfterRestart({ ...asked, lastAliveMs: 59 * MINUTE }, nowMs), nowMs + 10 * MINUTE);
  assert.equal(expiryAfterRestart({ ...asked, lastAliveMs: 5 * HOUR }, nowMs), nowMs + 10 * MINUTE);
});

test('after a restart a question never has more than its original time, even if the clock was set back', () => {
  const asked = { askedMs: 10 * HOUR, expiresAtMs: 11 * HOUR };
  assert.equal(expiryAfterRestart({ ...asked, lastAliveMs: 2 * HOUR }, 3 * HOUR), 4 * HOUR);
  assert.equal(expiryAfterRestart({ ...asked, lastAliveMs: undefined }, 3 * HOUR), 4 * HOUR);
});
