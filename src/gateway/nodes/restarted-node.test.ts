import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { openNodeGateway, requestTo } from '../testing/node-gateway.ts';

const ASKED = { nodeId: 'n1', command: 'camera.snap', timeoutMs: 600_000, idempotencyKey: 'k1' };

test('a command whose node was started again is not waited for, but a result that its former process had kept is taken', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const connect = (process: string) => gateway.connect({ nodeId: 'n1', token, caps: ['camera', `process:${process}`] });
  const node = await connect('a');
  const [kept, lost] = [
    gateway.call('node.invoke', ASKED),
    gateway.refusal('node.invoke', { ...ASKED, idempotencyKey: 'k2' }),
  ];
  const { id } = await requestTo(node);
  await requestTo(node, 2);
  node.socket.terminate();
  await gateway.leaves('n1');
  await gateway.clock.advance(1_000);
  const back = await connect('b');
  await back.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'kept' });
  assert.equal((await kept).payload, 'kept');
  await gateway.clock.advance(LIMITS.nodeLossMs - 1_000);
  const { code, message } = await lost;
  assert.deepEqual([code, message.startsWith('the node disconnected while running camera')], ['UNAVAILABLE', true]);
  const { nodes } = await gateway.call('node.list', {});
  assert.deepEqual(nodes[0]?.caps, ['camera'], 'the name of a process is nothing that a node can do');
});

test('a command goes on when the same process of its node connects again, or replaces its connection', async () => {
  await using gateway = await openNodeGateway();
  const token = await gateway.pair('n1');
  const connect = () => gateway.connect({ nodeId: 'n1', token, caps: ['process:a'] });
  const node = await connect();
  const answer = gateway.call('node.invoke', ASKED);
  const { id } = await requestTo(node);
  await connect();
  await gateway.clock.advance(LIMITS.nodeLossMs);
  const latest = await connect();
  await gateway.clock.advance(LIMITS.nodeLossMs);
  await latest.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'same' });
  assert.equal((await answer).payload, 'same');
});
