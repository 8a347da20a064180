import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toNodeDirectory } from './node-directory.ts';

test('a call that was approved for an earlier pairing is not sent to the machine that is paired now', async () => {
  let approvedAtMs = 7;
  const sent: string[] = [];
  const node = () => ({ nodeId: 'n1', createdAtMs: 1, approvedAtMs });
  const unused = () => assert.fail('not used');
  const directory = toNodeDirectory({
    list: () => [{ nodeId: 'n1', caps: [], commands: ['x'], paired: true, connected: true }],
    paired: {
      ...{ list: unused, find: unused, revocationOf: unused, authenticate: unused, approve: unused },
      ...{ rename: unused, rotate: unused, revoke: unused, get: node },
    },
    invocations: {
      ...{ resume: unused, finish: unused, run: unused },
      async start({ nodeId, command }) {
        sent.push(command);
        return { ok: true, nodeId, command, payload: 1, payloadJSON: null };
      },
    },
  });
  const { pairing = '' } = directory.list()[0] ?? {};
  const call = { nodeId: 'n1', command: 'x', params: {}, timeoutMs: 1_000, pairing, toolCall: 'c1' };
  const { signal } = new AbortController();
  assert.equal(await directory.invoke(call, signal), 1);
  approvedAtMs = 8;
  await assert.rejects(directory.invoke(call, signal), { code: 'CONFLICT' });
  assert.deepEqual(sent, ['x']);
});
