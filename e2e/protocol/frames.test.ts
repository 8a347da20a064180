import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Approval } from '../../protocol/methods/approval.ts';
import { OF_EVERYONE } from '../../src/gateway/sharing/perception.ts';
import { listeningGateway } from '../../src/gateway/testing/listening-gateway.ts';
import { puppetModels } from '../../src/gateway/testing/puppet-model.ts';

test('A frame that is not JSON must be answered INVALID_REQUEST under the id `invalid` and leave the connection open', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  client.socket.send('{"type":"req"');
  const { ok, error } = await client.answerTo('invalid');
  assert.deepEqual({ ok, code: error?.code }, { ok: false, code: 'INVALID_REQUEST' });
  assert.ok(await client.call('system-presence'));
});

test('A frame with an unknown property must be answered INVALID_REQUEST under its own id and leave the connection open', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  client.socket.send(JSON.stringify({ type: 'req', id: 'mine', method: 'system-presence', surprise: 1 }));
  const { error } = await client.answerTo('mine');
  assert.equal(error?.code, 'INVALID_REQUEST');
  assert.match(error.message, /^invalid request frame: .*surprise/);
  assert.ok(await client.call('system-presence'));
});

test('An unknown method must be answered INVALID_REQUEST with its name', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  for (const method of ['surprise', 'constructor', '__proto__', 'toString']) {
    const { error } = await client.request(method);
    assert.deepEqual(error, { code: 'INVALID_REQUEST', message: `unknown method: ${method}`, retryable: false });
  }
});

test('Params with an unknown property must be answered INVALID_REQUEST, naming its place', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  const { error } = await client.request('workstream.list', { surprise: 1 });
  assert.equal(error?.code, 'INVALID_REQUEST');
  assert.match(error.message, /^invalid workstream\.list params: .*surprise/);
});

test('Missing params must count as an empty object', async () => {
  await using gateway = await listeningGateway();
  const client = await gateway.client();
  assert.deepEqual(await client.call('workstream.list'), await gateway.call('workstream.list', {}));
});

test('A waiting request must not delay the requests after it', async () => {
  await using gateway = await listeningGateway();
  const answer = Promise.withResolvers<void>();
  gateway.puppet.turn(answer.promise);
  const client = await gateway.client();
  await client.call('chat.send', { sessionKey: 'main', message: 'hello', idempotencyKey: 'run' });
  const slow = client.call('agent.wait', { runId: 'run' });
  await client.call('system-presence');
  answer.resolve();
  assert.partialDeepStrictEqual(await slow, { runId: 'run', status: 'ok' });
});

test('An unexpected error must be answered INTERNAL without its cause', async () => {
  const { models } = puppetModels();
  const list = () => {
    throw new Error('the secret cause');
  };
  await using gateway = await listeningGateway({ models: { ...models, list } });
  const client = await gateway.client();
  const { error } = await client.request('models.list');
  assert.deepEqual(error, { code: 'INTERNAL', message: 'Internal error', retryable: false });
});

test('Broadcast events must carry `seq` without gaps, even if the connection may not see all events', async () => {
  await using gateway = await listeningGateway();
  const reader = await gateway.client('read-token');
  gateway.parts.broadcast.publish('tick', { ts: 1 });
  gateway.parts.broadcast.publishOf(OF_EVERYONE, 'approval.resolved', {
    approvalId: 'a',
    wsId: 'w',
    sessionKey: 'main',
    approved: true,
  });
  gateway.parts.broadcast.publish('shutdown', { reason: 'test' });
  const { seq = 0 } = await reader.event('tick');
  const last = await reader.event('shutdown');
  assert.equal(last.seq, seq + 1);
});

test('`approval.requested` must reach only connections that may approve', async () => {
  await using gateway = await listeningGateway();
  const writer = await gateway.client('write-token');
  const approver = await gateway.client('approve-token');
  const approval: Approval = {
    approvalId: 'a',
    wsId: 'w',
    sessionKey: 'main',
    kind: 'tools',
    items: [],
    expiresAtMs: 1,
  };
  gateway.parts.broadcast.publishOf(OF_EVERYONE, 'approval.requested', approval);
  gateway.parts.broadcast.publish('tick', { ts: 1 });
  await Promise.all([writer.event('tick'), approver.event('tick')]);
  const names = (client: typeof writer) => client.events().map((frame) => frame.type === 'event' && frame.event);
  assert.deepEqual([names(writer), names(approver)], [['tick'], ['approval.requested', 'tick']]);
});

test('A call without the scope of its method must be answered FORBIDDEN', async () => {
  await using gateway = await listeningGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  const reader = await gateway.client('read-token');
  const writer = await gateway.client('write-token');
  const { error } = await reader.request('workstream.close', { wsId });
  assert.equal(error?.code, 'FORBIDDEN');
  assert.deepEqual(await writer.call('workstream.close', { wsId }), { status: 'ok' });
});
