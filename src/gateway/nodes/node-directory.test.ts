import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { toNodeDirectory } from './node-directory.ts';

test('a call is sent once its node is back, but not again if it may have run, nor to another machine that is paired now', async () => {
  let approvedAtMs = 7;
  const sent: string[] = [];
  const lost: GatewayError[] = [];
  const node = () => ({ nodeId: 'n1', createdAtMs: 1, approvedAtMs });
  const unused = () => assert.fail('not used');
  const directory = toNodeDirectory({
    returnOf: async () => undefined,
    list: () => [{ nodeId: 'n1', caps: [], commands: ['x'], paired: true, connected: true }],
    paired: {
      ...{ list: unused, find: unused, revocationOf: unused, authenticate: unused, approve: unused },
      ...{ rename: unused, rotate: unused, revoke: unused, get: node },
    },
    invocations: {
      ...{ resume: unused, finish: unused, run: unused },
      async start({ nodeId, command }) {
        const error = lost.pop();
        if (error !== undefined) throw error;
        sent.push(command);
        return { ok: true, nodeId, command, payload: 1, payloadJSON: null };
      },
    },
  });
  const { signal } = new AbortController();
  const { pairing = '' } = (await directory.list(signal))[0] ?? {};
  const call = {
    nodeId: 'n1',
    command: 'x',
    params: {},
    timeoutMs: 1_000,
    pairing,
    toolCall: 'c1',
    wasInterrupted: false,
  };
  assert.equal(await directory.invoke(call, signal), 1);
  const unsent = new GatewayError('UNAVAILABLE', 'lost', { details: { code: 'NOT_CONNECTED' } });
  lost.push(unsent);
  assert.equal(await directory.invoke(call, signal), 1, 'it was lost for a moment');
  lost.push(unsent, unsent);
  await assert.rejects(directory.invoke(call, signal), unsent);
  for (const code of ['NODE_LOST', 'PAIRING_REVOKED', 'TIMEOUT']) {
    lost.push(new GatewayError('UNAVAILABLE', 'lost', { details: { code } }));
    await assert.rejects(directory.invoke(call, signal), { name: 'Unanswered' }, `${code}: it may have run`);
  }
  lost.push(new GatewayError('TIMEOUT', 'late', { details: { nodeError: { code: 'TIMEOUT', message: 'late' } } }));
  await assert.rejects(directory.invoke(call, signal), { message: 'late' }, 'the node itself has ended it');
  approvedAtMs = 8;
  await assert.rejects(directory.invoke(call, signal), { code: 'CONFLICT' });
  assert.deepEqual(sent, ['x', 'x']);
});
