import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { ProviderError } from '../../agent/providers/model.ts';
import { seen } from '../cuts/take-back-fixture.ts';
import { beforeNextCommit } from '../testing/before-next-commit.ts';
import { callerOf, turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const REASON = 'Could not reach lab (ECONNREFUSED).';
const gone = () => new ProviderError('unreachable', REASON, { retryable: true, detail: 'away' });

/** A message of no person, which is not held. */
const OF_WATCH = { message: 'seen', principal: 'ada', rights: 'approve', source: 'agent', key: 'w' } as const;

/** The model of the first message cannot be reached, and messages of a person wait; `also` sends what waits behind them. */
async function setUp(gateway: WholeGateway, messages = ['a', 'b'], also?: () => Promise<unknown>) {
  const wsId = await gateway.main();
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.puppet.turn(promise, gone());
  await gateway.call('workstream.send', { wsId, message: 'first', idempotencyKey: 'first' });
  await turnsUntil(() => gateway.puppet.requests.length === 1, 'the first request');
  for (const message of messages)
    await gateway.call('workstream.send', { wsId, message, queue: true, idempotencyKey: message });
  await also?.();
  resolve();
  await turnsUntil(() => gateway.mainWorkstream().queue.held !== undefined, 'the end of the first run');
  return wsId;
}

const waitingIn = async (gateway: WholeGateway, wsId: string) =>
  (await gateway.call('queue.list', { wsId })).messages.map(({ message, held }) => [message, held]);

/** All turns of the event loop that a message would need to be sent. */
const settled = async () => {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
};

const HELD = [
  ['a', REASON],
  ['b', REASON],
];

test('after a run whose model cannot be reached, waiting messages are held with the reason, and can be changed', async () => {
  await using gateway = await wholeGateway();
  const wsId = await setUp(gateway);
  await settled();
  assert.deepEqual([await waitingIn(gateway, wsId), gateway.puppet.requests.length], [HELD, 1]);
  await gateway.call('queue.edit', { wsId, runId: 'a', message: 'aa' });
  await gateway.call('queue.move', { wsId, runId: 'b', to: 0 });
  await gateway.call('queue.remove', { wsId, runId: 'b' });
  assert.deepEqual(await waitingIn(gateway, wsId), [['aa', REASON]]);
  assert.deepEqual((await gateway.call('workstream.proceed', { wsId })).wasWaiting, true);
  await gateway.isIdle(wsId);
  assert.deepEqual(await seen(gateway), ['1 first', '2 aa', '3 ok']);
  assert.equal((await gateway.call('workstream.proceed', { wsId })).wasWaiting, false);
});

test('held messages are sent before a new one, in their order', async () => {
  await using gateway = await wholeGateway();
  const wsId = await setUp(gateway);
  const { status } = await gateway.call('workstream.send', { wsId, message: 'c' }, { scope: 'write', id: 'bob' });
  assert.equal(status, 'ok');
  await turnsUntil(() => gateway.puppet.requests.length === 4, 'all requests');
  await gateway.isIdle(wsId);
  assert.deepEqual(await seen(gateway), ['1 first', '2 a', '3 ok', '4 b', '5 ok', '6 c', '7 ok']);
});

test('the failed message is tried again before the held ones, and a second failure holds them again', async () => {
  await using gateway = await wholeGateway();
  const wsId = await setUp(gateway);
  gateway.puppet.turn(gone());
  await gateway.call('workstream.retry', { wsId });
  await turnsUntil(() => gateway.mainWorkstream().queue.held !== undefined, 'the second failure');
  await settled();
  assert.deepEqual([await waitingIn(gateway, wsId), gateway.puppet.requests.length], [HELD, 2]);
  await gateway.call('workstream.retry', { wsId });
  await turnsUntil(() => gateway.puppet.requests.length === 5, 'all requests');
  await gateway.isIdle(wsId);
  assert.deepEqual((await seen(gateway)).slice(-5), ['4 ok', '5 a', '6 ok', '7 b', '8 ok']);
});

test('held messages are sent when the server answers; if that fails, too, they wait for a person', async () => {
  await using gateway = await wholeGateway();
  const wsId = await setUp(gateway);
  gateway.puppet.turn(gone());
  gateway.puppet.isReached();
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the second request');
  await turnsUntil(() => gateway.mainWorkstream().queue.held !== undefined, 'the second failure');
  gateway.puppet.isReached();
  await settled();
  assert.deepEqual([await waitingIn(gateway, wsId), gateway.puppet.requests.length], [[['b', REASON]], 2]);
});

test('a restart keeps messages held', async () => {
  for (const end of ['restart', 'crash'] as const) {
    await using gateway = await wholeGateway();
    const wsId = await setUp(gateway);
    await gateway[end]();
    await settled();
    assert.deepEqual([await waitingIn(gateway, wsId), gateway.puppet.requests.length], [HELD, 1], end);
    await gateway.call('workstream.proceed', { wsId });
    await turnsUntil(() => gateway.puppet.requests.length === 3, 'all requests');
    await gateway.isIdle(wsId);
  }
});

test('a process that dies at any write of their release answers each held message once', async () => {
  const told = async (gateway: WholeGateway, wsId: string) =>
    (await gateway.events(wsId)).flatMap((event) => (event.type === 'user_turn' ? [event.message] : []));
  let writes = 1;
  for (let isDone = false; !isDone; writes += 1) {
    await using gateway = await wholeGateway();
    const wsId = await setUp(gateway);
    let left = writes;
    gateway.disk.diesAt = () => {
      left -= 1;
      return left <= 0;
    };
    void gateway.gateway.dispatch('workstream.proceed', { wsId }, callerOf());
    const isOver = async () => (await told(gateway, wsId)).length === 3 && !gateway.mainWorkstream().busy;
    await turnsUntil(async () => left <= 0 || (await isOver()), 'the end of the process, or of its work');
    isDone = left > 0;
    await gateway.crash();
    await settled();
    const { messages } = await gateway.call('queue.list', { wsId });
    if (messages.length > 0) await gateway.call('workstream.proceed', { wsId }); // held still, or going on already
    await turnsUntil(isOver, 'the last answer');
    assert.deepEqual(await told(gateway, wsId), ['first', 'a', 'b'], `write ${writes}`);
    for (const runId of ['a', 'b'])
      assert.equal((await gateway.call('agent.wait', { runId })).status, 'ok', `write ${writes}: ${runId}`);
  }
  assert.ok(writes > 6, `${writes} writes`);
});

for (const how of ['remove', 'move'] as const)
  test(`a message of a watch is sent at once when it becomes the first one behind a held message: ${how}`, async () => {
    await using gateway = await wholeGateway();
    const wsId = await setUp(gateway, ['a'], () => gateway.parts.runs.accept(gateway.mainWorkstream(), OF_WATCH));
    await settled();
    assert.equal(gateway.puppet.requests.length, 1);
    if (how === 'remove') await gateway.call('queue.remove', { wsId, runId: 'a' });
    else await gateway.call('queue.move', { wsId, runId: 'w', to: 0 });
    await turnsUntil(() => gateway.puppet.requests.length === 2, 'the message of the watch');
    await gateway.isIdle(wsId);
    assert.deepEqual(await waitingIn(gateway, wsId), how === 'remove' ? [] : [['a', REASON]]);
  });

test('a message that is refused releases no held messages', async () => {
  await using gateway = await wholeGateway();
  const messages = Array.from({ length: 10 }, (_, index) => `message ${index}`);
  const wsId = await setUp(gateway, messages);
  const stayHeld = async (count: number) => {
    await settled();
    const waiting = await waitingIn(gateway, wsId);
    assert.deepEqual([waiting.length, waiting[0]?.[1], gateway.mainWorkstream().busy], [count, REASON, false]);
  };
  assert.equal((await gateway.refusal('workstream.send', { wsId, message: 'eleventh' })).code, 'BUSY');
  await stayHeld(10);
  await gateway.call('queue.remove', { wsId, runId: 'message 9' });
  gateway.disk.fails = () => true;
  await gateway.refusal('workstream.send', { wsId, message: 'not stored' });
  await gateway.refusal('workstream.retry', { wsId });
  gateway.disk.fails = undefined;
  await stayHeld(9);
  gateway.puppet.isReached();
  await turnsUntil(() => gateway.puppet.requests.length === 10, 'all requests');
  await gateway.isIdle(wsId);
});

test('a message of a watch is sent when the held message before it is not stored after all', async () => {
  await using gateway = await wholeGateway();
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.puppet.turn(promise, gone());
  await gateway.accept('first');
  await turnsUntil(() => gateway.puppet.requests.length === 1, 'the first request');
  beforeNextCommit(gateway.parts.store, async () => {
    await gateway.parts.runs.accept(gateway.mainWorkstream(), OF_WATCH);
    resolve();
    await turnsUntil(() => gateway.mainWorkstream().queue.held !== undefined, 'the end of the first run');
    throw new GatewayError('UNAVAILABLE', 'Cannot write to the disk');
  });
  await assert.rejects(gateway.accept('not stored'), /Cannot write/);
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the message of the watch');
});

test('a cancel drops held messages, and another failure holds nothing', async () => {
  await using gateway = await wholeGateway();
  const wsId = await setUp(gateway);
  await gateway.call('workstream.cancel', { wsId });
  assert.deepEqual(await waitingIn(gateway, wsId), []);
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.puppet.turn(promise, new ProviderError('refused', 'no such model'));
  await gateway.call('workstream.send', { wsId, message: 'd' });
  await gateway.call('workstream.send', { wsId, message: 'e', queue: true });
  resolve();
  await turnsUntil(() => gateway.puppet.requests.length === 3, 'both requests');
  await gateway.isIdle(wsId);
});
