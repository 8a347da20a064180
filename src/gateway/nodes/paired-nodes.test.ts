import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HelloOk } from '../../../protocol/connect.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { openNodeGateway } from '../testing/node-gateway.ts';

test('A node’s token must appear in no answer except the one that creates it, and must not be stored', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const shown = JSON.stringify([
    await gateway.call('node.pair.list', {}),
    await gateway.call('node.list', {}),
    await gateway.call('node.describe', { nodeId: 'n1' }),
    await gateway.call('node.pair.verify', { nodeId: 'n1', token }),
    await gateway.store.db.selectFrom('nodes').selectAll().execute(),
    gateway.log.lines,
  ]);
  assert.equal(shown.includes(token.slice(5)), false);
});

test('a token is valid for its own node only', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  await gateway.pair('n2');
  const verify = async (nodeId: string, candidate: string) =>
    (await gateway.call('node.pair.verify', { nodeId, token: candidate })).ok;
  assert.deepEqual(
    [
      await verify('n1', token),
      await verify('n2', token),
      await verify('n3', token),
      await verify('n1', '__proto__'),
      await verify('__proto__', token),
    ],
    [true, false, false, false, false],
  );
});

test('A connection of mode `node` must have only the rights of its node, and a node’s token must be valid only there', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const node = await gateway.connect({ nodeId: 'n1', token });
  const { features, snapshot } = node.hello.payload as HelloOk;
  assert.deepEqual(
    [features.methods, snapshot.presence, snapshot.health],
    [['node.pair.request', 'node.invoke.result', 'node.event'], [], {}],
  );
  for (const method of ['health', 'node.list', 'node.invoke', 'node.pair.approve', 'auth.status', 'config.get'])
    assert.equal((await node.request(method, {})).ok, false, method);
  // Authentication is off here: clients have all rights, except in mode "node".
  for (const wrong of ['svc_operator', 'x', '__proto__']) {
    const { hello, closed } = await gateway.connect({ nodeId: 'n1', token: wrong });
    assert.deepEqual([hello.error?.code, (await closed).reason], ['UNAUTHORIZED', 'unauthorized']);
  }
});

test('paired nodes are listed: connected ones first, then by name; live data wins', async () => {
  await using gateway = await openNodeGateway();
  await gateway.pair('n1');
  await gateway.call('node.rename', { nodeId: 'n1', displayName: 'Attic' });
  const token = await gateway.pair('n2', ['look', 'look', 'a']);
  await gateway.connect({ nodeId: 'n2', token, caps: ['b', 'a'], client: { platform: 'beos', version: '7' } });
  await gateway.arrives('n2');
  const { nodes } = await gateway.call('node.list', {});
  assert.deepEqual(nodes, [
    {
      ...{ nodeId: 'n2', displayName: 'box', platform: 'beos', version: '7', remoteIp: '127.0.0.1' },
      ...{ caps: ['a', 'b'], commands: ['a', 'look'], paired: true, connected: true },
    },
    {
      ...{ nodeId: 'n1', displayName: 'Attic', remoteIp: '127.0.0.1' },
      ...{ caps: [], commands: ['camera.snap'], paired: true, connected: false },
    },
  ]);
  assert.deepEqual(await gateway.refusal('node.describe', { nodeId: 'n9' }), {
    code: 'NOT_FOUND',
    message: 'unknown nodeId',
  });
});

test('a name given by a person stays when the node is approved again; before, the node’s own name is used', async () => {
  await using gateway = await openNodeGateway();
  const approved = async (displayName?: string) => {
    const { socket, request } = await gateway.ask('n1', { displayName });
    const { node } = await gateway.call('node.pair.approve', { requestId: request.requestId });
    socket.socket.close();
    await socket.closed;
    return node.displayName;
  };
  assert.deepEqual([await approved(), await approved('box'), await approved('den')], [undefined, 'box', 'den']);
  await gateway.call('node.rename', { nodeId: 'n1', displayName: 'Attic' });
  assert.deepEqual([await approved('den'), await approved('box'), await approved()], ['Attic', 'Attic', 'Attic']);
});

test('Rotating or revoking a node’s token must end its open connections at once', async () => {
  await using gateway = await openNodeGateway();
  const first = await gateway.pair('n1');
  const node = await gateway.connect({ nodeId: 'n1', token: first });
  const { token } = await gateway.call('node.token.rotate', { nodeId: 'n1' });
  assert.deepEqual(await node.closed, { code: 1008, reason: 'unauthorized' });
  assert.equal((await gateway.connect({ nodeId: 'n1', token: first })).hello.ok, false);
  const next = await gateway.connect({ nodeId: 'n1', token });
  assert.equal(next.hello.ok, true);
  await gateway.call('node.token.revoke', { nodeId: 'n1' });
  assert.equal((await next.closed).code, 1008);
  assert.deepEqual((await gateway.call('node.list', {})).nodes, []);
  assert.equal((await gateway.connect({ nodeId: 'n1', token })).hello.error?.code, 'UNAUTHORIZED');
  assert.equal((await gateway.refusal('node.token.rotate', { nodeId: 'n1' })).code, 'NOT_FOUND');
});

test('If a node has two connections, the newer one must replace the older one, whose end must change nothing', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const old = await gateway.connect({ nodeId: 'n1', token });
  const young = await gateway.connect({ nodeId: 'n1', token });
  const end = await old.closed;
  assert.deepEqual([end.code, end.reason], [1008, 'replaced by a newer connection of this node']);
  assert.equal(await gateway.isConnected('n1'), true);
  young.socket.close();
  await gateway.leaves('n1');
});

test('an event of a node is sent to readers', async () => {
  await using gateway = await openNodeGateway();
  const [operator, node] = [await gateway.operator(), await gateway.join('n1')];
  await node.call('node.event', { event: 'door.opened', payloadJSON: '{"door":1}' });
  const { payload } = await operator.event('node.event');
  assert.deepEqual(payload, { nodeId: 'n1', event: 'door.opened', payload: { door: 1 }, ts: 1_000_000 });
});

test('an event of a node is cleaned, because it is sent to every reader', async () => {
  const clean = (text: string) => text.replaceAll('geheim-1234', '[REDACTED]');
  await using gateway = await openNodeGateway({ clean });
  const [operator, node] = [await gateway.operator(), await gateway.join('n1')];
  const cleaned = { '[REDACTED]': ['[REDACTED] is it'] };
  for (const [event, told, payload] of [
    ['plain', { payload: { 'geheim-1234': ['geheim-1234 is it'] } }, cleaned],
    ['escaped', { payloadJSON: '{"\\u0067eheim-1234":["geheim-1234 is it"]}' }, cleaned],
    ['no JSON', { payloadJSON: 'geheim-1234' }, { payloadJSON: '[REDACTED]' }],
  ] as const) {
    await node.call('node.event', { event: `${event} geheim-1234`, ...told });
    const name = `${event} [REDACTED]`;
    const got = await operator.event('node.event', (sent) => Object(sent).event === name);
    assert.deepEqual(got.payload, { nodeId: 'n1', event: name, payload, ts: 1_000_000 });
  }
});

test('an event of a node is limited in size, because it is sent to every reader', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  for (const [payload, code] of [
    ['x'.repeat(65_534), undefined],
    ['x'.repeat(65_535), 'PAYLOAD_TOO_LARGE'],
  ] as const)
    assert.equal((await node.request('node.event', { event: 'said', payload })).error?.code, code);
});

test('nodes get ticks, so that they notice a dead gateway', async () => {
  await using gateway = await openNodeGateway();
  const [node, stranger] = [await gateway.join('n1'), await gateway.connect({ nodeId: 'n2' })];
  await gateway.clock.advance(LIMITS.tickIntervalMs);
  assert.ok(await node.event('tick'));
  assert.ok(await stranger.event('tick'));
});
