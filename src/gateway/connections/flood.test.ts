import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { openConnection } from './connection-fixture.ts';

const INBOUND = { burst: 10, perSecond: 2 };
const FULL_MS = 5_000;

/** A connection that has been refused so often that it is not read from any more. */
async function openFlood(options: Parameters<typeof openConnection>[0] = {}) {
  const opened = openConnection({ inbound: INBOUND, ...options });
  await opened.welcome();
  opened.calls.length = 0;
  const floodWith = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      opened.call(`f${n}`, 'health');
      if (n % 10 === 9) await opened.endTurn(); // so that its answers are no reason to pause
    }
    await opened.endTurn();
  };
  await floodWith(INBOUND.burst + LIMITS.floodRefusals - 1);
  const before = [...opened.calls];
  await floodWith(1);
  return { ...opened, floodWith, before };
}

test('a connection that keeps asking too much is not read from until its budget is full again', async () => {
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

test('what was read before the rest is refused as before, and rests no longer for it', async () => {
  const { floodWith, calls, clock, answers } = await openFlood();
  await floodWith(2 * LIMITS.floodRefusals);
  assert.deepEqual([calls, answers().at(-1)], [['pause'], ['f199', 'RATE_LIMITED']]);
  await clock.advance(FULL_MS);
  assert.deepEqual(calls, ['pause', 'resume']);
});

test('a budget that fills slowly does not silence a connection for long', async () => {
  const { calls, clock } = await openFlood({ inbound: { burst: 10, perSecond: 1 / 60 } });
  await clock.advance(LIMITS.floodRestMs);
  assert.deepEqual(calls, ['pause', 'resume']);
});

test('a rest ends neither early, when the client has taken its answers, nor before it has', async () => {
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

test('a client that goes during its rest has gone', async () => {
  const { connection, calls, clock } = await openFlood();
  connection.onClose();
  await clock.advance(FULL_MS);
  assert.deepEqual(calls, ['pause']);
});
