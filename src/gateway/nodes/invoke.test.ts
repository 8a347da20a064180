import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import type { NodeInvokeResult } from '../../../protocol/methods/node.ts';
import { openNodeGateway, requestTo } from '../testing/node-gateway.ts';

const ASKED = { nodeId: 'n1', command: 'camera.snap', idempotencyKey: 'k1' } as const;
/** An answer that is awaited later; an earlier rejection is not unhandled. */
function later<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

test('`node.invoke` must return the answer of the node', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const answer = gateway.call('node.invoke', { ...ASKED, params: { depth: 2 } });
  const { id, ...request } = await requestTo(node);
  assert.deepEqual(request, {
    ...{ nodeId: 'n1', command: 'camera.snap', paramsJSON: '{"depth":2}', timeoutMs: 30_000, idempotencyKey: 'k1' },
  });
  assert.deepEqual(await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: { seen: [1] } }), {
    ok: true,
  });
  assert.deepEqual(await answer, {
    ...{ ok: true, nodeId: 'n1', command: 'camera.snap', payload: { seen: [1] }, payloadJSON: null },
  });
  const frame = node.events().find(({ event }) => event === 'node.invoke.request');
  assert.equal(frame?.seq, undefined);
});

for (const [what, payloadJSON, payload] of [
  ['JSON text is read', '{"a":1}', { a: 1 }],
  ['text that is not JSON is passed on unchanged', 'plain', { payloadJSON: 'plain' }],
  ['JSON nested too deeply is handed over as text', '['.repeat(999), { payloadJSON: '['.repeat(999) }],
] as const) {
  test(`an answer as ${what}`, async () => {
    await using gateway = await openNodeGateway();
    const node = await gateway.join('n1');
    const answer = gateway.call('node.invoke', ASKED);
    const { id } = await requestTo(node);
    await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payloadJSON });
    assert.deepEqual(await answer, { ok: true, nodeId: 'n1', command: 'camera.snap', payload, payloadJSON });
  });
}

test('A command that was not approved with the node must be refused before it is sent', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1', ['camera.snap', 'system.run', 'sh']);
  for (const command of ['hide', 'system.run', 'sh', '__proto__']) {
    const { code, message } = await gateway.refusal('node.invoke', { ...ASKED, command, idempotencyKey: command });
    assert.deepEqual([code, message.startsWith(`node command not allowed: ${command} (`)], ['INVALID_REQUEST', true]);
  }
  assert.equal(
    node.events().some(({ event }) => event === 'node.invoke.request'),
    false,
  );
});

test('an error of the node is passed to the caller with the corresponding code, and final if that code is', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  for (const [nth, [said, code]] of [
    ['FORBIDDEN', 'FORBIDDEN'],
    ['NOT_FOUND', 'NOT_FOUND'],
    ['E_ODD', 'UNAVAILABLE'],
    ['UNAUTHORIZED', 'UNAVAILABLE'],
    ['__proto__', 'UNAVAILABLE'],
  ].entries()) {
    const answer = gateway.refusal('node.invoke', { ...ASKED, idempotencyKey: `k${nth}` });
    const { id } = await requestTo(node, nth + 1);
    await node.call('node.invoke.result', { id, nodeId: 'n1', ok: false, error: { code: said, message: 'no' } });
    assert.deepEqual(await answer, { code, message: 'no' });
  }
});

test('unknown and disconnected nodes are distinguished', async () => {
  await using gateway = await openNodeGateway();
  await gateway.pair('n1');
  const { code, message } = await gateway.refusal('node.invoke', ASKED);
  assert.deepEqual([code, message], ['UNAVAILABLE', 'node not connected (n1)']);
  assert.equal((await gateway.refusal('node.invoke', { ...ASKED, nodeId: 'n9' })).code, 'NOT_FOUND');
});

test('a command is refused as soon as config.json forbids it', async () => {
  let rules = {};
  await using gateway = await openNodeGateway({ nodeRules: () => rules });
  const node = await gateway.join('n1');
  rules = { n1: { deny: ['camera.*'] } };
  const { code, message } = await gateway.refusal('node.invoke', ASKED);
  assert.deepEqual(
    [code, message],
    ['INVALID_REQUEST', 'node command not allowed: camera.snap (denied by config.json)'],
  );
  rules = {};
  const answer = gateway.call('node.invoke', { ...ASKED, idempotencyKey: 'k2' });
  const { id } = await requestTo(node);
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 1 });
  assert.equal((await answer).payload, 1);
});

test('a blank name is refused', async () => {
  await using gateway = await openNodeGateway();
  const refused = (message: string) => ({ code: 'INVALID_REQUEST', message });
  for (const blank of [{ nodeId: ' ' }, { command: '\t' }]) {
    const refusal = await gateway.refusal('node.invoke', { ...ASKED, ...blank, idempotencyKey: JSON.stringify(blank) });
    assert.deepEqual(refusal, refused('nodeId and command required'));
  }
  assert.deepEqual(await gateway.refusal('node.describe', { nodeId: ' ' }), refused('nodeId required'));
});

test('a failed command is not retryable, a disconnected node is', async () => {
  await using gateway = await openNodeGateway();
  const operator = await gateway.operator();
  const token = await gateway.pair('n1');
  const ask = () => operator.request('node.invoke', ASKED);
  const away = await ask();
  const node = await gateway.connect({ nodeId: 'n1', token });
  const answer = ask();
  const { id } = await requestTo(node);
  const error = { code: 'BUSY', message: 'later' };
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: false, error });
  const told = [away, await answer, await ask()].map((frame) => [frame.error?.code, frame.error?.retryable]);
  assert.deepEqual(told, [
    ['UNAVAILABLE', true],
    ['BUSY', false],
    ['BUSY', false],
  ]);
});

test('Repeating `node.invoke` with the same key must run the command only once, even after a restart', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const node = await gateway.connect({ nodeId: 'n1', token });
  const many = Promise.all(Array.from({ length: 50 }, () => gateway.call('node.invoke', ASKED)));
  const { id } = await requestTo(node);
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 7 });
  const payloads = new Set((await many).map(({ payload }) => payload));
  await gateway.restart();
  const back = await gateway.connect({ nodeId: 'n1', token });
  const repeated = await gateway.call('node.invoke', ASKED);
  const requests = [...node.events(), ...back.events()].filter(({ event }) => event === 'node.invoke.request');
  assert.deepEqual([payloads, repeated.payload, requests.length], [new Set([7]), 7, 1]);
  const other = await gateway.refusal('node.invoke', { ...ASKED, params: { other: true } });
  assert.equal(other.code, 'CONFLICT');
});

test('a repeat after a restart during a command waits for the result and sends nothing', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const node = await gateway.connect({ nodeId: 'n1', token });
  const lost = later(gateway.call('node.invoke', ASKED));
  const { id } = await requestTo(node);
  await gateway.restart();
  const back = await gateway.connect({ nodeId: 'n1', token });
  const repeated = gateway.call('node.invoke', ASKED);
  await back.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'done' });
  assert.equal((await repeated).payload, 'done');
  assert.equal(
    back.events().some(({ event }) => event === 'node.invoke.request'),
    false,
  );
  await gateway.clock.advance(LIMITS.nodeInvokeMs); // for the caller of the daemon that died
  await assert.rejects(lost);
});

test('A result that arrives after the deadline must be stored and returned to a repeat', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const asked = { ...ASKED, timeoutMs: 500 };
  const answer = gateway.refusal('node.invoke', asked);
  const { id, timeoutMs } = await requestTo(node);
  await gateway.clock.advance(500);
  const { code, message } = await answer;
  assert.deepEqual(
    [timeoutMs, code, message.startsWith('no answer to camera.snap within 500 ms.')],
    [500, 'TIMEOUT', true],
  );
  assert.equal((await gateway.refusal('node.invoke', asked)).code, 'TIMEOUT');
  assert.deepEqual(await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'late' }), {
    ok: true,
  });
  assert.equal((await gateway.call('node.invoke', asked)).payload, 'late');
});

test('a timeout of 0 is the default one', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const answer = gateway.call('node.invoke', { ...ASKED, timeoutMs: 0 });
  const { id, timeoutMs } = await requestTo(node);
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true });
  assert.deepEqual([timeoutMs, (await answer).payload], [30_000, null]);
});

test('a node that reconnects with the result of a command answers the waiting caller', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const node = await gateway.connect({ nodeId: 'n1', token });
  const answer = gateway.call('node.invoke', ASKED);
  const { id } = await requestTo(node);
  node.socket.terminate();
  await gateway.leaves('n1');
  await gateway.clock.advance(LIMITS.nodeLossMs - 1);
  const back = await gateway.connect({ nodeId: 'n1', token });
  await gateway.clock.advance(5_000);
  await back.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'kept' });
  assert.equal((await answer).payload, 'kept');
});

test('A command whose node has been disconnected for ten seconds must be answered UNAVAILABLE and never be sent again', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const node = await gateway.connect({ nodeId: 'n1', token });
  const answer = gateway.refusal('node.invoke', ASKED);
  const { id } = await requestTo(node);
  node.socket.terminate();
  await gateway.leaves('n1');
  await gateway.clock.advance(LIMITS.nodeLossMs);
  const { code, message } = await answer;
  assert.deepEqual([code, message.startsWith('the node disconnected while running camera')], ['UNAVAILABLE', true]);
  const back = await gateway.connect({ nodeId: 'n1', token });
  const repeated = gateway.call('node.invoke', ASKED);
  await back.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'after all' });
  assert.equal((await repeated).payload, 'after all');
  assert.equal(
    back.events().some(({ event }) => event === 'node.invoke.request'),
    false,
  );
});

test('A node must not be able to answer for another node or to answer twice', async () => {
  await using gateway = await openNodeGateway();
  const [node, other] = [await gateway.join('n1'), await gateway.join('n2')];
  const answer = gateway.call('node.invoke', ASKED);
  const { id } = await requestTo(node);
  const forged = await other.request('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'forged' });
  const foreign = await other.call('node.invoke.result', { id, nodeId: 'n2', ok: true, payload: 'forged' });
  assert.deepEqual([forged.error?.message, foreign], ['nodeId mismatch', { ok: true, ignored: true }]);
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'mine' });
  const again = await node.call('node.invoke.result', { id, nodeId: 'n1', ok: false });
  const unknown = await node.call('node.invoke.result', { id: 'inv_nope', nodeId: 'n1', ok: true });
  assert.deepEqual(
    [(await answer).payload, again, unknown],
    ['mine', { ok: true, ignored: true }, { ok: true, ignored: true }],
  );
});

test('the same key of two callers means two calls', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const answers = ['ada', 'bob'].map((id) => gateway.call('node.invoke', ASKED, { id }));
  for (const n of [1, 2]) {
    const { id } = await requestTo(node, n);
    await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: n });
  }
  const payloads = (await Promise.all(answers)).map(({ payload }) => payload);
  assert.deepEqual([...payloads].sort(), [1, 2]);
});

test('a command continues when its caller disconnects, who gets the result by repeating the call', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const caller = new AbortController();
  const gone = later(gateway.call('node.invoke', ASKED, { signal: caller.signal }));
  const { id } = await requestTo(node);
  caller.abort(new Error('gone'));
  await assert.rejects(gone);
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 3 });
  assert.equal((await gateway.call('node.invoke', ASKED)).payload, 3);
});

test('an invocation is removed after a day', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const answer = gateway.call('node.invoke', ASKED);
  const { id } = await requestTo(node);
  await node.call('node.invoke.result', { id, nodeId: 'n1', ok: true });
  await answer;
  const count = async () => (await gateway.store.db.selectFrom('invocations').select('invoke_id').execute()).length;
  assert.equal(await count(), 1);
  for (const ms of [LIMITS.idempotencyMs, 3_600_000, 3_600_000]) await gateway.clock.leap(ms);
  assert.equal(await count(), 0);
});

test('of two simultaneous results one counts', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const answers: Promise<NodeInvokeResult>[] = [];
  for (let n = 1; n <= 20; n += 1) {
    answers.push(gateway.call('node.invoke', { ...ASKED, idempotencyKey: `k${n}` }));
    const { id } = await requestTo(node, n);
    const result = { id, nodeId: 'n1', ok: true, payload: n };
    const taken = await Promise.all([node.call('node.invoke.result', result), node.call('node.invoke.result', result)]);
    assert.deepEqual(taken, [{ ok: true }, { ok: true, ignored: true }]);
  }
  assert.deepEqual(
    (await Promise.all(answers)).map(({ payload }) => payload),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
});
