import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { tempStore } from '../../testing/temp-store.ts';
import { openNodeGateway, requestTo } from '../testing/node-gateway.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { openPairedNodes } from './paired-nodes.ts';

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

test('a revocation or rotation that could not be stored ends the token, and can be repeated', async () => {
  await using store = await tempStore();
  const { db, reportDamage } = store;
  let isFull = false;
  const commit: typeof store.commit = (unit) =>
    isFull ? Promise.reject(new Error('the disk is full')) : store.commit(unit);
  const secrets = ['first', 'second', 'third', 'fourth'];
  const open = () =>
    openPairedNodes({
      store: { db, commit, reportDamage },
      clock: { now: () => 1 },
      ids: { secret: () => secrets.shift() ?? assert.fail() },
    });
  const nodes = await open();
  const isValid = (token: string) => nodes.authenticate('n1', token) !== undefined;
  const { node } = await nodes.approve({ requestId: 'r', nodeId: 'n1', isRepair: false, ts: 1 }, 'operator');
  isFull = true;
  await assert.rejects(nodes.rotate('n1'), /full/);
  assert.equal(isValid(node.token), false);
  isFull = false;
  const rotated = await nodes.rotate('n1');
  assert.equal(isValid(rotated), true);
  isFull = true;
  await assert.rejects(nodes.revoke('n1'), /full/);
  assert.deepEqual([isValid(rotated), nodes.revocationOf('n1')?.aborted], [false, true]);
  isFull = false;
  await nodes.revoke('n1');
  assert.deepEqual([nodes.list(), (await open()).list()], [[], []]);
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

test('what is approved, renewed and revoked at the same moment ends as it is stored', async () => {
  await using it = await wholeGateway();
  const node = { nodeId: 'n1', commands: ['system.info'] };
  const ask = async () => (await it.call('node.pair.request', node)).request.requestId;
  const verify = async (token: string) => (await it.call('node.pair.verify', { nodeId: 'n1', token })).ok;
  await it.call('node.pair.approve', { requestId: await ask() });
  const renewing = it.call('node.pair.approve', { requestId: await ask() });
  const { token } = await it.call('node.token.rotate', { nodeId: 'n1' });
  const renewed = (await renewing).node.token;
  const stored = await it.store.db.selectFrom('nodes').select('token_hash').executeTakeFirst();
  const valid = (await verify(token)) ? token : renewed;
  assert.equal(stored?.token_hash, hash('sha256', valid, 'hex'));
  const again = it.call('node.pair.approve', { requestId: await ask() });
  await it.call('node.token.revoke', { nodeId: 'n1' });
  await again;
  const rows = await it.store.db.selectFrom('nodes').select('node_id').execute();
  const { paired } = await it.call('node.pair.list', {});
  assert.deepEqual(
    paired.map(({ nodeId }) => nodeId),
    rows.map((row) => row.node_id),
  );
});
