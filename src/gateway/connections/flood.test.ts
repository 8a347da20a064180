import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { openConnection } from './connection-fixture.ts';

const INBOUND = { burst: 10, perSecond: 2 };
const FULL_MS = 5_000;

/** A connection that was refused so often that reading is paused. */
async function openFlood(options: Parameters<typeof openConnection>[0] = {}) {
  const opened = openConnection({ inbound: INBOUND, ...options });
  await opened.welcome();
  opened.calls.length = 0;
  const floodWith = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      opened.call(`f${n}`, 'health');
      if (n % 10 === 9) await opened.endTurn(); // so that its answers do not cause a pause
    }
    await opened.endTurn();
  };
  await floodWith(INBOUND.burst + LIMITS.floodRefusals - 1);
  const before = [...opened.calls];
  await floodWith(1);
  return { ...opened, floodWith, before };
}

test('reading from a connection with too many refused requests pauses until its budget is full again', async () => {
  const { before, calls, clock, call, endTurn, answers } = await openFlood();
  assert.deepEqual([before, calls], [[], ['pause']]);
  await clock.advance(FULL_MS - 1);
  assert.deepEqual(calls, ['pause']);
  await clock.advance(1);
  assert.deepEqual(calls, ['pause', 'resume']);
  for (let n = 1; n <= INBOUND.burst; n += 1) call(`after ${n}`, 'health');
  await endTurn();
  assert.equal(answers().at(-1)?.join(), 'after 10,health');
});

test('requests read before the pause are refused, and do not prolong it', async () => {
  const { floodWith, calls, clock, answers } = await openFlood();
  await floodWith(2 * LIMITS.floodRefusals);
  assert.deepEqual([calls, answers().at(-1)], [['pause'], ['f199', 'RATE_LIMITED']]);
  await clock.advance(FULL_MS);
  assert.deepEqual(calls, ['pause', 'resume']);
});

test('a budget that fills slowly does not pause a connection for long', async () => {
  const { calls, clock } = await openFlood({ inbound: { burst: 10, perSecond: 1 / 60 } });
  await clock.advance(LIMITS.floodRestMs);
  assert.deepEqual(calls, ['pause', 'resume']);
});

test('a pause ends only when both its time is over and the client has read its answers', async () => {
  const { calls, clock, drain } = await openFlood({ isStalled: true });
  drain();
  assert.equal(calls.includes('resume'), false, 'early');
  await clock.advance(FULL_MS);
  assert.equal(calls.at(-1), 'resume');
  const slow = await openFlood({ isStalled: true });
  await slow.clock.advance(FULL_MS);
  assert.equal(slow.calls.includes('resume'), false, 'before');
  slow.drain();
  assert.equal(slow.calls.at(-1), 'resume');
});

test('a client that disconnects during its pause is gone', async () => {
  const { connection, calls, clock } = await openFlood();
  connection.onClose();
  await clock.advance(FULL_MS);
  assert.deepEqual(calls, ['pause']);
});
