import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNodeGateway, requestTo } from '../testing/node-gateway.ts';

const ASKED = { nodeId: 'n1', command: 'camera.snap', idempotencyKey: 'k1' } as const;

test('a command is answered at once when its node’s pairing is revoked, also for a disconnected node or a repeat', async () => {
  await using gateway = await openNodeGateway();
  const revoked = {
    code: 'UNAVAILABLE',
    message:
      'the pairing of the node was revoked while it ran camera.snap. It is unknown whether it finished; it is not sent again.',
  };
  for (const [nodeId, isAway] of [
    ['n1', false],
    ['n2', true],
  ] as const) {
    const node = await gateway.join(nodeId);
    const asked = { ...ASKED, nodeId, idempotencyKey: nodeId };
    const answer = gateway.refusal('node.invoke', asked);
    await requestTo(node);
    if (isAway) {
      node.socket.terminate();
      await gateway.leaves(nodeId);
    }
    await gateway.call('node.token.revoke', { nodeId });
    assert.deepEqual([await answer, await gateway.refusal('node.invoke', asked)], [revoked, revoked]);
  }
});

test('after a token rotation or a new pairing, a node can still answer its earlier commands', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const answer = gateway.call('node.invoke', ASKED);
  const { id } = await requestTo(node);
  await gateway.call('node.token.rotate', { nodeId: 'n1' });
  const back = await gateway.join('n1');
  await back.call('node.invoke.result', { id, nodeId: 'n1', ok: true, payload: 'after all' });
  assert.equal((await answer).payload, 'after all');
});
