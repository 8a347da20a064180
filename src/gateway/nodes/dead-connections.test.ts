import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodePairing } from '../../../protocol/methods/node.ts';
import { openNodeGateway } from '../testing/node-gateway.ts';
import type { TestClient } from '../testing/test-client.ts';
import { turnsUntil } from '../testing/whole-gateway.ts';

type NodeGateway = Awaited<ReturnType<typeof openNodeGateway>>;

const LIFE_SIGN_MS = 3_000;

const isUndecided = async (gateway: NodeGateway) => (await gateway.call('node.pair.list', {})).pending.length > 0;

async function asks(node: TestClient, commands: string[]): Promise<NodePairing> {
  const { request } = (await node.call('node.pair.request', { nodeId: 'n1', commands })) as { request: NodePairing };
  return request;
}

test('a node that is paired again while its connection is dead keeps its token until it has reconnected', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1', ['look']);
  const node = await gateway.connect({ nodeId: 'n1', token });
  const { requestId } = await asks(node, ['look', 'fire']);
  node.socket.pause();
  const refusal = gateway.refusal('node.pair.approve', { requestId });
  await turnsUntil(async () => !(await isUndecided(gateway)), 'the node is asked for a sign of life');
  await gateway.clock.advance(LIFE_SIGN_MS);
  const { code, message } = await refusal;
  assert.equal(code, 'UNAVAILABLE');
  assert.match(message, /^The node does not answer/);
  assert.deepEqual([await isUndecided(gateway), await gateway.isConnected('n1')], [false, false]);
  const back = await gateway.connect({ nodeId: 'n1', token });
  assert.equal(back.hello.ok, true);
  const again = await asks(back, ['look', 'fire']);
  const { node: approved } = await gateway.call('node.pair.approve', { requestId: again.requestId });
  const { payload } = await back.event('node.pair.token');
  assert.deepEqual(payload, { requestId: again.requestId, nodeId: 'n1', token: approved.token });
});

test('a machine whose first connection is dead can request pairing on another one', async () => {
  await using gateway = await openNodeGateway();
  const { socket: dead, request: first } = await gateway.ask('n1', { commands: ['look'] });
  dead.socket.pause();
  const alive = await gateway.connect({ nodeId: 'n1' });
  const { error } = await alive.request('node.pair.request', { nodeId: 'n1', commands: ['look'] });
  assert.equal(error?.code, 'BUSY');
  await gateway.clock.advance(LIFE_SIGN_MS);
  const second = await asks(alive, ['look']);
  assert.notEqual(second.requestId, first.requestId);
  await gateway.call('node.pair.approve', { requestId: second.requestId });
  assert.equal((await alive.event('node.pair.token')).event, 'node.pair.token');
});

test('others who ask under the id of a machine that answers do not end its request', async () => {
  await using gateway = await openNodeGateway();
  const { socket: machine, request } = await gateway.ask('n1');
  const intruder = await gateway.connect({ nodeId: 'n1' });
  for (let asked = 0; asked < 2; asked += 1) {
    const { error } = await intruder.request('node.pair.request', { nodeId: 'n1' });
    assert.equal(error?.code, 'BUSY');
  }
  assert.equal((await asks(machine, [])).requestId, request.requestId);
  await gateway.clock.advance(LIFE_SIGN_MS);
  const { pending } = await gateway.call('node.pair.list', {});
  assert.deepEqual(
    pending.map(({ requestId }) => requestId),
    [request.requestId],
  );
});
