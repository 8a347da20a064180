import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Approval } from '../../protocol/methods/approval.ts';
import { openGateway } from '../../src/gateway/testing/gateway-fixture.ts';

test('A frame that is not JSON must be answered INVALID_REQUEST under the id `invalid` and leave the connection open', async () => {
  await using gateway = await openGateway();
  const client = await gateway.connect();
  client.socket.send('{"type":"req"');
  const { ok, error } = await client.answerTo('invalid');
  assert.deepEqual({ ok, code: error?.code }, { ok: false, code: 'INVALID_REQUEST' });
  assert.ok(await client.call('system-presence'));
});

test('A frame with an unknown property must be answered INVALID_REQUEST under its own id and leave the connection open', async () => {
  await using gateway = await openGateway();
  const client = await gateway.connect();
  client.socket.send(JSON.stringify({ type: 'req', id: 'mine', method: 'system-presence', surprise: 1 }));
  const { error } = await client.answerTo('mine');
  assert.equal(error?.code, 'INVALID_REQUEST');
  assert.match(error.message, /^invalid request frame: .*surprise/);
  assert.ok(await client.call('system-presence'));
});

test('An unknown method must be answered INVALID_REQUEST with its name', async () => {
  await using gateway = await openGateway();
  const client = await gateway.connect();
  for (const method of ['surprise', 'constructor', '__proto__', 'toString']) {
    const { error } = await client.request(method);
    assert.deepEqual(error, { code: 'INVALID_REQUEST', message: `unknown method: ${method}`, retryable: false });
  }
});

test('Params with an unknown property must be answered INVALID_REQUEST, naming its place', async () => {
  await using gateway = await openGateway({ handlers: { 'workstream.list': () => ({ workstreams: [] }) } });
  const client = await gateway.connect();
  const { error } = await client.request('workstream.list', { surprise: 1 });
  assert.equal(error?.code, 'INVALID_REQUEST');
  assert.match(error.message, /^invalid workstream\.list params: .*surprise/);
});

test('Missing params must count as an empty object', async () => {
  await using gateway = await openGateway({ handlers: { 'workstream.list': () => ({ workstreams: [] }) } });
  const client = await gateway.connect();
  assert.deepEqual(await client.call('workstream.list'), { workstreams: [] });
});

test('A waiting request must not delay the requests after it', async () => {
  const { promise, resolve } = Promise.withResolvers<{ workstreams: [] }>();
  await using gateway = await openGateway({ handlers: { 'workstream.list': () => promise } });
  const client = await gateway.connect();
  const slow = client.call('workstream.list');
  await client.call('system-presence');
  resolve({ workstreams: [] });
  assert.deepEqual(await slow, { workstreams: [] });
});

test('An unexpected error must be answered INTERNAL without its cause', async () => {
  await using gateway = await openGateway({
    handlers: {
      health: () => {
        throw new Error('the secret cause');
      },
    },
  });
  const client = await gateway.connect();
  const { error } = await client.request('health');
  assert.deepEqual(error, { code: 'INTERNAL', message: 'Internal error', retryable: false });
});

test('Broadcast events must carry `seq` without gaps, whatever a connection is not allowed to see', async () => {
  await using gateway = await openGateway();
  const reader = await gateway.connect('read-token');
  gateway.broadcast.publish('tick', { ts: 1 });
  gateway.broadcast.publish('approval.resolved', { approvalId: 'a', wsId: 'w', sessionKey: 'main', approved: true });
  gateway.broadcast.publish('shutdown', { reason: 'test' });
  const { seq = 0 } = await reader.event('tick');
  const last = await reader.event('shutdown');
  assert.equal(last.seq, seq + 1);
});

test('`approval.requested` must reach only connections that may approve', async () => {
  await using gateway = await openGateway();
  const writer = await gateway.connect('write-token');
  const approver = await gateway.connect('approve-token');
  const approval: Approval = {
    approvalId: 'a',
    wsId: 'w',
    sessionKey: 'main',
    kind: 'tools',
    items: [],
    expiresAtMs: 1,
  };
  gateway.broadcast.publish('approval.requested', approval);
  gateway.broadcast.publish('tick', { ts: 1 });
  await Promise.all([writer.event('tick'), approver.event('tick')]);
  const names = (client: typeof writer) => client.events().map((frame) => frame.type === 'event' && frame.event);
  assert.deepEqual([names(writer), names(approver)], [['tick'], ['approval.requested', 'tick']]);
});

test('A call without the scope of its method must be answered FORBIDDEN', async () => {
  await using gateway = await openGateway({ handlers: { 'workstream.close': () => ({ status: 'ok' }) } });
  const reader = await gateway.connect('read-token');
  const writer = await gateway.connect('write-token');
  const { error } = await reader.request('workstream.close', { wsId: 'w' });
  assert.equal(error?.code, 'FORBIDDEN');
  assert.deepEqual(await writer.call('workstream.close', { wsId: 'w' }), { status: 'ok' });
});
