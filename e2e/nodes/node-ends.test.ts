import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { findProcess } from '../../src/agent/process/process-table.ts';
import { type NodeUnderTest, startNode } from '../support/daemon/node-process.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause } from '../support/deadline.ts';
import { fileAppears } from '../support/file-appears.ts';

const { daemon } = await openStage();
await writeFile(path.join(daemon.home, 'config.json'), `{ nodes: { '*': { allow: ['system.*', 'file.*'] } } }`);
await daemon.restart();

async function paired() {
  const node = await startNode(daemon, ['--allow', 'sh *']);
  await node.code();
  const client = await daemon.client();
  const { pending } = await client.call('node.pair.list', {});
  for (const { requestId } of pending) await client.call('node.pair.approve', { requestId });
  await node.child.printed(/^Connected\.$/m);
  return node;
}

const REVOKED =
  'the pairing of the node was revoked while it ran system.run. It is unknown whether it finished; it is not sent again.';
const WAYS_OUT: Record<string, (node: NodeUnderTest, client: GatewayClient) => Promise<unknown>> = {
  'is revoked': (node, client) => client.call('node.token.revoke', { nodeId: node.nodeId() }),
  'has its token rotated': (node, client) => client.call('node.token.rotate', { nodeId: node.nodeId() }),
  'is stopped by SIGTERM': async (node) => node.child.kill('SIGTERM'),
  'is interrupted again and again': async (node) => {
    node.child.kill('SIGINT');
    await pause(100);
    node.child.kill('SIGINT');
  },
  'is replaced by a newer one': async (node) => {
    const twin = await startNode(daemon, ['--home', node.home]);
    await twin.child.printed(/^Connected\.$/m);
    await node.child.exited;
    assert.match(node.child.stderr(), /Another process connected with the id of this node, so this one stops\./);
    await twin[Symbol.asyncDispose]();
  },
};

for (const [way, leave] of Object.entries(WAYS_OUT)) {
  test(`a node host that ${way} first ends all programs it started, even those that ignore SIGTERM`, async () => {
    await using node = await paired();
    const client = await daemon.client();
    const script = "(trap '' TERM; while :; do sleep 1; done) & echo $! > stubborn; sleep 600 & echo $! > pid; wait";
    const asked = { nodeId: node.nodeId(), command: 'system.run', params: { argv: ['sh', '-c', script] } };
    const answer = client.call('node.invoke', { ...asked, idempotencyKey: `left ${node.nodeId()}` });
    answer.catch(() => undefined); // looked at below
    await fileAppears(path.join(node.folder, 'pid'));
    await leave(node, client);
    await node.child.exited;
    const pids = await Promise.all(['pid', 'stubborn'].map((name) => readFile(path.join(node.folder, name), 'utf8')));
    const left = pids.map((pid) => findProcess(Number(pid)));
    assert.deepEqual(left, [undefined, undefined]);
    if (way === 'is revoked') await assert.rejects(answer, { code: 'UNAVAILABLE', message: REVOKED });
  });
}
