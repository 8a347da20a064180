import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { openNodeGateway, requestTo } from '../testing/node-gateway.ts';
import { createInvocationDeadlines } from './invocation-deadlines.ts';

const HOUR_MS = 3_600_000;
/** The clocks of these tests must not go back before 1970. */
const NOON_MS = Date.UTC(2030, 0, 1, 12);
const JUMPS = { 'back 400 days': -9600, 'back 1 hour': -1, 'on 1 hour': 1, 'on 400 days': 9600 };
const ASKED = { nodeId: 'n1', command: 'camera.snap', timeoutMs: 500, idempotencyKey: 'k1' } as const;

for (const [what, hours] of Object.entries(JUMPS)) {
  test(`a clock that goes ${what} does not change the remaining time of a command`, async () => {
    await using gateway = await openNodeGateway();
    gateway.clock.jump(NOON_MS);
    const node = await gateway.join('n1');
    const answer = gateway.refusal('node.invoke', ASKED);
    await requestTo(node);
    let isOver = false;
    void answer.then(() => {
      isOver = true;
    });
    gateway.clock.jump(hours * HOUR_MS);
    await gateway.clock.advance(499);
    assert.equal(isOver, false);
    await gateway.clock.advance(1);
    assert.equal((await answer).code, 'TIMEOUT');
    assert.equal((await gateway.refusal('node.invoke', ASKED)).code, 'TIMEOUT', 'a repeat waits no more');
  });

  test(`a clock that goes ${what} does not change the five minutes of a pairing request`, async () => {
    await using gateway = await openNodeGateway();
    gateway.clock.jump(NOON_MS);
    const { socket } = await gateway.ask('n1');
    gateway.clock.jump(hours * HOUR_MS);
    await gateway.clock.advance(LIMITS.pairingMs - 1);
    assert.equal((await gateway.call('node.pair.list', {})).pending.length, 1);
    await gateway.clock.advance(1);
    await socket.event('node.pair.resolved');
    assert.equal((await gateway.call('node.pair.list', {})).pending.length, 0);
  });
}

test('the remaining time of a command is in whole milliseconds', async () => {
  const clock = fakeClock(1_000_000);
  const deadlines = createInvocationDeadlines(clock);
  const begun = { invoke_id: 'inv1', timeout_ms: 500, deadline_ms: 1_000_500 };
  deadlines.begin(begun);
  await clock.advance(0.25);
  assert.equal(deadlines.leftMs(begun), 500);
});

test('an invocation of an earlier process has the rest of its deadline, at most its timeout', () => {
  const clock = fakeClock(1_000_000);
  const begun = { invoke_id: 'inv1', timeout_ms: 500, deadline_ms: 1_000_500 };
  const leftMs = [200, -HOUR_MS, -9600 * HOUR_MS, 2 * 9600 * HOUR_MS].map((ms) => {
    clock.jump(ms);
    return createInvocationDeadlines(clock).leftMs(begun);
  });
  assert.deepEqual(
    leftMs.map((ms) => Math.max(0, ms)),
    [300, 500, 500, 0],
  );
});

test('a clock that is wrong for a while removes no result', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const answer = gateway.call('node.invoke', ASKED);
  const { id } = await requestTo(node);
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'kept' });
  await answer;
  gateway.clock.jump(9600 * HOUR_MS);
  await gateway.clock.advance(HOUR_MS / 2);
  gateway.clock.jump(-9600 * HOUR_MS);
  for (let hour = 0; hour < 3; hour += 1) await gateway.clock.leap(HOUR_MS);
  const rows = await gateway.store.db.selectFrom('invocations').select('outcome_json').execute();
  assert.match(rows[0]?.outcome_json ?? '', /kept/);
});
