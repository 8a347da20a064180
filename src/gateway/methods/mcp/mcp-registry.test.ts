import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandScopes } from '../../rights.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../../users/grant.ts';

test('a caller whose credential ends while the registry answers installs nothing', async (t) => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const remotes = [{ type: 'streamable-http', url: 'https://x.example/mcp' }];
  t.mock.method(globalThis, 'fetch', async () => {
    asked.resolve();
    await answered.promise;
    return Response.json({ server: { name: 'io.x/notes', version: '1.0.0', remotes } });
  });
  await using gateway = await wholeGateway();
  const ended = new AbortController();
  const rights = { scopes: expandScopes(['approve']), permissions: ALL_PERMISSIONS };
  const source = { kind: 'token', tokenId: 't' } as const;
  const install = (signal: AbortSignal) =>
    gateway.gateway.dispatch(
      'mcp.registry.install',
      { registryName: 'io.x/notes', source: 'remote' },
      {
        principal: { id: 'token:t', ...rights, source, ended: signal },
        ...{ signal: new AbortController().signal, address: '' },
        ...{ interim: () => undefined, subscriptions: undefined },
      },
    );
  const installed = install(ended.signal);
  await asked.promise;
  ended.abort(new Error('the user was disabled'));
  answered.resolve();
  await assert.rejects(Promise.resolve(installed), { code: 'UNAUTHORIZED' });
  assert.deepEqual((await gateway.call('mcp.list', {})).servers, []);
  await install(new AbortController().signal);
  assert.equal((await gateway.call('mcp.list', {})).servers.length, 1);
});
