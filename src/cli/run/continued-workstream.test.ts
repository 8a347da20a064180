import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { findContinued } from './continued-workstream.ts';

const around = { cwd: '/src/garden' };

function open(saved: { wsId: string; name: string }[]) {
  const asked: unknown[] = [];
  const client: Pick<GatewayClient, 'call'> = {
    async call(method, ...[params]) {
      if (method === 'workstream.saved') asked.push(params);
      const rows = saved.map((row) => ({ ...row, sessionKey: row.wsId }));
      return { workstreams: rows } as never; // of both lists, only these fields are read
    },
  };
  return { client, asked };
}

test('--continue takes the last conversation of this folder, --resume the named one', async () => {
  const { client, asked } = open([{ wsId: 'w1', name: 'roses' }]);
  assert.equal(await findContinued(client, { continue: true }, around), 'w1');
  assert.deepEqual(asked, [{ limit: 1, workdir: '/src/garden' }]);
  assert.equal(await findContinued(client, { resume: 'w1' }, around), 'w1');
  assert.equal(await findContinued(client, {}, around), undefined);
});

test('without a conversation in this folder, --continue says so', async () => {
  await assert.rejects(findContinued(open([]).client, { continue: true }, around), {
    message: 'No conversation works in /src/garden. To name another one, use --resume NAME.',
  });
});

for (const flags of [
  { continue: true, resume: 'a' },
  { continue: true, ws: 'a' },
  { resume: 'a', model: 'fast' },
])
  test(`${Object.keys(flags).join(' and ')} contradict each other`, async () => {
    await assert.rejects(findContinued(open([]).client, flags, around), { name: 'UsageError' });
  });
