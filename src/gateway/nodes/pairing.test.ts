import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HelloOk } from '../../../protocol/connect.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { pairingCodeOf } from '../../../protocol/text/pairing-code.ts';
import { openNodeGateway } from '../testing/node-gateway.ts';

test('An unpaired machine must be able to request pairing and nothing else', async () => {
  await using gateway = await openNodeGateway();
  const stranger = await gateway.connect({ nodeId: 'n1' });
  const { features, snapshot } = stranger.hello.payload as HelloOk;
  const refused = [];
  for (const method of [
    'health',
    'auth.status',
    'auth.login',
    'node.list',
    'node.event',
    'node.invoke.result',
    'agent',
  ])
    refused.push((await stranger.request(method, {})).error?.code);
  assert.deepEqual(
    [features.methods, features.events, snapshot.presence, snapshot.health, new Set(refused)],
    [
      ['node.pair.request'],
      ['node.pair.resolved', 'node.pair.token', 'tick', 'shutdown'],
      [],
      {},
      new Set(['FORBIDDEN']),
    ],
  );
  const present = await gateway.call('system-presence', {});
  assert.equal(
    present.some(({ instanceId }) => instanceId === 'n1'),
    false,
  );
});

test('An address must be limited to 4 unpaired nodes; the next one is answered BUSY and closed with 1013', async () => {
  await using gateway = await openNodeGateway();
  const held = await Promise.all(['a', 'b', 'c', 'd'].map((nodeId) => gateway.connect({ nodeId })));
  const fifth = await gateway.connect({ nodeId: 'e' });
  assert.deepEqual([held.every(({ hello }) => hello.ok), fifth.hello.error?.code], [true, 'BUSY']);
  assert.equal((await fifth.closed).code, 1013);
  held[0]?.socket.close();
  await held[0]?.closed;
  assert.equal((await gateway.connect({ nodeId: 'e' })).hello.ok, true);
});

test('a node without an id, or with one that is too long, is refused, and so is a request for another id', async () => {
  await using gateway = await openNodeGateway();
  for (const instanceId of [undefined, 'x'.repeat(129)]) {
    const { hello, closed } = await gateway.connect({ nodeId: 'n1', client: { instanceId } });
    assert.match(hello.error?.message ?? '', /^invalid connect params: client\.instanceId/);
    assert.equal((await closed).code, 1008);
  }
  const stranger = await gateway.connect({ nodeId: 'n1' });
  const { error } = await stranger.request('node.pair.request', { nodeId: 'n2' });
  assert.deepEqual([error?.code, error?.message], ['INVALID_REQUEST', 'nodeId mismatch']);
});

test('an unpaired machine with too many requests is slowed down, and one that stays too long is disconnected', async () => {
  await using gateway = await openNodeGateway();
  const stranger = await gateway.connect({ nodeId: 'n1' });
  const ask = () => stranger.request('node.pair.request', { nodeId: 'n1' });
  for (let i = 0; i < LIMITS.requestsPerUnpairedNode; i += 1) assert.equal((await ask()).ok, true);
  assert.equal((await ask()).error?.code, 'RATE_LIMITED');
  await gateway.clock.advance(LIMITS.pairingMs + 10_000);
  assert.deepEqual(await stranger.closed, { code: 1008, reason: 'pairing expired' });
});

test('A repeated pairing request must return the pending one, unless it names other commands', async () => {
  await using gateway = await openNodeGateway();
  const operator = await gateway.operator();
  const { socket, request } = await gateway.ask('n1', { displayName: 'Box', commands: ['look'], remoteIp: '9.9.9.9' });
  const again = await socket.call('node.pair.request', {
    ...{ nodeId: 'n1', displayName: 'Box', commands: ['look'], remoteIp: '8.8.8.8' },
  });
  assert.deepEqual(again, { status: 'pending', request, created: false });
  assert.deepEqual(request, {
    ...{ requestId: request.requestId, nodeId: 'n1', displayName: 'Box', commands: ['look'] },
    ...{ remoteIp: '127.0.0.1', isRepair: false, ts: 1_000_000 },
  });
  const other = await socket.call('node.pair.request', { nodeId: 'n1', displayName: 'Box', commands: ['look', 'run'] });
  const { pending } = await gateway.call('node.pair.list', {});
  assert.deepEqual(
    [(other as { created: boolean }).created, pending.length, pending[0]?.commands],
    [true, 1, ['look', 'run']],
  );
  await operator.event('node.pair.resolved');
  assert.deepEqual(
    operator.events().map(({ event }) => event),
    ['node.pair.requested', 'node.pair.resolved', 'node.pair.requested'],
  );
});

test('a repeat that differs only in silent, name, order of commands or other claims is the same request', async () => {
  await using gateway = await openNodeGateway();
  const operator = await gateway.operator();
  const { socket, request } = await gateway.ask('n1', {
    displayName: 'Box',
    caps: ['a', 'b'],
    commands: ['look', 'run'],
  });
  const repeats = [
    { silent: true },
    { silent: false, displayName: 'Another box' },
    { displayName: undefined },
    { caps: ['b', 'a'], commands: ['run', 'look', 'run'] },
    { platform: 'linux', version: '2' },
  ];
  for (const more of repeats) {
    const params = { nodeId: 'n1', displayName: 'Box', commands: ['look', 'run'], ...more };
    const answer = await socket.call('node.pair.request', params);
    assert.deepEqual(answer, { status: 'pending', request, created: false }, JSON.stringify(more));
  }
  await gateway.call('node.pair.approve', idOf(request));
  await operator.event('node.pair.resolved');
  assert.deepEqual(
    operator.events().map(({ event }) => event),
    ['node.pair.requested', 'node.pair.resolved'],
  );
});

test('A connection must not join a pairing request that another connection made under the same id', async () => {
  await using gateway = await openNodeGateway();
  const { request } = await gateway.ask('n1', { commands: ['look'] });
  const intruder = await gateway.connect({ nodeId: 'n1' });
  const { error } = await intruder.request('node.pair.request', { nodeId: 'n1', commands: ['look'] });
  assert.deepEqual(
    [error?.code, error?.retryable, JSON.stringify(error).includes(request.requestId)],
    ['BUSY', true, false],
  );
});

test('a pairing request ends with its connection', async () => {
  await using gateway = await openNodeGateway();
  const operator = await gateway.operator();
  const { socket, request } = await gateway.ask('n1');
  socket.socket.terminate();
  const { payload } = await operator.event('node.pair.resolved');
  assert.deepEqual(payload, { requestId: request.requestId, nodeId: 'n1', decision: 'expired', ts: 1_000_000 });
  const refusal = await gateway.refusal('node.pair.approve', { requestId: request.requestId });
  assert.deepEqual(refusal, { code: 'NOT_FOUND', message: 'unknown requestId' });
});

test('A pairing request must expire after five minutes without a decision, and the node must be notified', async () => {
  await using gateway = await openNodeGateway();
  const operator = await gateway.operator();
  const { socket, request } = await gateway.ask('n1');
  await gateway.clock.advance(LIMITS.pairingMs - 1);
  assert.equal((await gateway.call('node.pair.list', {})).pending.length, 1);
  await gateway.clock.advance(1);
  const told = { requestId: request.requestId, nodeId: 'n1', decision: 'expired', ts: 1_300_000 };
  const [mine, all] = [await socket.event('node.pair.resolved'), await operator.event('node.pair.resolved')];
  assert.deepEqual([mine.payload, mine.seq, all.payload, typeof all.seq], [told, undefined, told, 'number']);
  assert.deepEqual((await gateway.call('node.pair.list', {})).pending, []);
  assert.equal((await gateway.refusal('node.pair.approve', idOf(request))).code, 'NOT_FOUND');
});

const idOf = ({ requestId }: { requestId: string }) => ({ requestId });

test('Approving a node must send its token on the requesting connection and in the answer to the approver', async () => {
  await using gateway = await openNodeGateway();
  const operator = await gateway.operator();
  const { socket, request } = await gateway.ask('n1', {
    displayName: 'Box',
    platform: 'linux',
    commands: ['run', 'look'],
  });
  const { node } = await gateway.call('node.pair.approve', idOf(request));
  const { payload } = await socket.event('node.pair.token');
  const { token, ...shown } = node;
  assert.match(token, /^node_[0-9a-f]{64}$/);
  assert.deepEqual(payload, { requestId: request.requestId, nodeId: 'n1', token });
  assert.deepEqual(shown, {
    ...{ nodeId: 'n1', displayName: 'Box', platform: 'linux', remoteIp: '127.0.0.1', commands: ['look', 'run'] },
    ...{ createdAtMs: 1_000_000, approvedAtMs: 1_000_000 },
  });
  await operator.event('node.pair.resolved');
  assert.equal(JSON.stringify(operator.frames).includes(token), false);
  assert.equal((await gateway.connect({ nodeId: 'n1', token })).hello.ok, true);
});

test('a rejected node is notified, and may ask again', async () => {
  await using gateway = await openNodeGateway();
  const { socket, request } = await gateway.ask('n1');
  assert.deepEqual(await gateway.call('node.pair.reject', idOf(request)), { ...idOf(request), nodeId: 'n1' });
  const { payload } = await socket.event('node.pair.resolved');
  assert.equal((payload as { decision: string }).decision, 'rejected');
  assert.equal((await socket.request('node.pair.request', { nodeId: 'n1' })).ok, true);
});

test('A changed list of commands must take effect only after a new approval', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1', ['look']);
  const node = await gateway.connect({ nodeId: 'n1', token });
  const { request } = (await node.call('node.pair.request', { nodeId: 'n1', commands: ['look', 'fire'] })) as {
    request: { requestId: string; isRepair: boolean };
  };
  assert.equal(request.isRepair, true);
  assert.deepEqual((await gateway.call('node.describe', { nodeId: 'n1' })).commands, ['look']);
  const { node: approved } = await gateway.call('node.pair.approve', { requestId: request.requestId });
  const { payload } = await node.event('node.pair.token');
  assert.deepEqual(
    [payload, (await node.closed).code],
    [
      { requestId: request.requestId, nodeId: 'n1', token: approved.token },
      1008, // its old token was revoked
    ],
  );
  assert.equal((await gateway.connect({ nodeId: 'n1', token })).hello.ok, false);
  assert.equal((await gateway.connect({ nodeId: 'n1', token: approved.token })).hello.ok, true);
  assert.deepEqual((await gateway.call('node.describe', { nodeId: 'n1' })).commands, ['fire', 'look']);
});

test('pairings, names and revocations survive a restart; requests do not', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const gone = await gateway.pair('n2');
  await gateway.call('node.rename', { nodeId: 'n1', displayName: 'Attic' });
  await gateway.call('node.token.revoke', { nodeId: 'n2' });
  const { request } = await gateway.ask('n3');
  await gateway.restart();
  assert.equal((await gateway.connect({ nodeId: 'n1', token })).hello.ok, true);
  assert.equal((await gateway.connect({ nodeId: 'n2', token: gone })).hello.ok, false);
  const { pending, paired } = await gateway.call('node.pair.list', {});
  assert.deepEqual([pending, paired.map(({ displayName }) => displayName)], [[], ['Attic']]);
  assert.equal((await gateway.refusal('node.pair.approve', idOf(request))).code, 'NOT_FOUND');
});

test('an approver may request pairing for another machine', async () => {
  await using gateway = await openNodeGateway();
  const operator = await gateway.operator();
  const { request } = (await operator.call('node.pair.request', { nodeId: 'n1', remoteIp: '10.1.1.1' })) as {
    request: { requestId: string; remoteIp: string };
  };
  assert.equal(request.remoteIp, '10.1.1.1');
  const { node } = await gateway.call('node.pair.approve', idOf(request));
  assert.equal((await gateway.connect({ nodeId: 'n1', token: node.token })).hello.ok, true);
  assert.equal(
    operator.events().some(({ event }) => event === 'node.pair.token'),
    false,
  );
});

test('at most 32 requests may be pending', async () => {
  await using gateway = await openNodeGateway();
  const operator = await gateway.operator();
  for (let i = 0; i < LIMITS.pairingRequests; i += 1) await operator.call('node.pair.request', { nodeId: `n${i}` });
  const { error } = await operator.request('node.pair.request', { nodeId: 'one too many' });
  assert.equal(error?.code, 'BUSY');
});

test('The code that both sides show must be the first eight characters of the pairing request’s id', async () => {
  await using gateway = await openNodeGateway();
  const { request } = await gateway.ask('n1');
  const code = pairingCodeOf(request.requestId);
  assert.match(code, /^[0-9A-F]{4}-[0-9A-F]{4}$/);
  assert.equal(code.replace('-', '').toLowerCase(), request.requestId.slice(0, 8));
});
