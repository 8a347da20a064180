import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StopReason } from '../../agent/stop-reason.ts';
import { openNodeGateway, requestTo } from '../testing/node-gateway.ts';

const ASKED = { nodeId: 'n1', command: 'camera.snap', params: {}, timeoutMs: 0, key: 'call', toolCall: 'ws:call' };

test('A node must receive `node.invoke.cancel` if the requesting run was cancelled or timed out, and only then', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const called: string[] = [];
  for (const [index, kind] of (['cancel', 'timeout', 'shutdown'] as const).entries()) {
    const stop = new AbortController();
    const result = gateway.nodes.invocations.start({ ...ASKED, key: kind, toolCall: `ws:${kind}` }, stop.signal);
    const { id } = await requestTo(node, index + 1);
    if (kind !== 'shutdown') called.push(id);
    stop.abort(new StopReason(kind, 'over'));
    await assert.rejects(result, { kind });
    await node.call('node.event', { event: 'a round trip' });
  }
  const cancels = node.events().filter(({ event }) => event === 'node.invoke.cancel');
  assert.deepEqual(
    cancels.map(({ payload }) => payload),
    called.map((id) => ({ id, nodeId: 'n1' })),
  );
});

test('a tool call cancelled before it was sent is not sent', async () => {
  await using gateway = await openNodeGateway();
  const node = await gateway.join('n1');
  const stopped = AbortSignal.abort(new StopReason('cancel', 'over'));
  await assert.rejects(gateway.nodes.invocations.start(ASKED, stopped), { kind: 'cancel' });
  await node.call('node.event', { event: 'a round trip' });
  assert.deepEqual(
    node.events().filter(({ event }) => event.startsWith('node.invoke')),
    [],
  );
});
