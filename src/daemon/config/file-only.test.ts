import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUp } from './config-file-fixture.ts';

test('the login provider can be kept by a change over the wire, but not changed', async () => {
  const oidc = {
    issuer: 'https://sso.example.com',
    clientId: 'headgate',
    clientSecret: 'hush',
    roleMap: { a: 'builtin-admin' },
  };
  const text = JSON.stringify({ oidc, retentionDays: 7 });
  using world = await setUp(text);
  const { hash = '', raw } = await world.config.read();
  assert.equal(raw?.includes('hush'), false);
  await world.config.write(raw?.replace('7', '8') ?? '', hash);
  assert.equal(await world.onDisk(), text.replace('7', '8'));
  const current = async () => (await world.config.read()).hash;
  const changes = [
    { issuer: 'https://evil.example' },
    { clientId: 'other' },
    { clientSecret: null },
    { roleMap: { b: 'builtin-admin' } },
    { defaultRole: 'builtin-admin' },
    { createUsers: false },
  ];
  for (const change of changes)
    await assert.rejects(world.config.patch(JSON.stringify({ oidc: change }), await current()), {
      code: 'INVALID_REQUEST',
      message: new RegExp(
        `^invalid config: oidc\\.${Object.keys(change)[0]}: can be changed only in config\\.json itself`,
      ),
    });
  await assert.rejects(world.config.write('{}', await current()), { code: 'INVALID_REQUEST' });
  using none = await setUp('{}');
  await assert.rejects(none.config.write(text, undefined), { code: 'INVALID_REQUEST' });
});

test('tool servers can be kept by a change over the wire, but not changed; headers are masked', async () => {
  const fake = { url: 'https://tools.example.com/mcp', headers: { Authorization: 'Bearer hush' } };
  using world = await setUp(JSON.stringify({ mcp: { servers: { fake } }, retentionDays: 7 }));
  const { hash = '', raw } = await world.config.read();
  assert.equal(raw?.includes('hush'), false);
  await world.config.patch('{"mcp": {"idleMinutes": 3}}', hash);
  const changes = { fake: { url: 'https://evil.example' }, other: { command: 'sh' } };
  for (const [name, change] of Object.entries(changes))
    await assert.rejects(
      world.config.patch(JSON.stringify({ mcp: { servers: { [name]: change } } }), (await world.config.read()).hash),
      { message: new RegExp(`^invalid config: mcp\\.servers\\.${name}: can be changed only in config\\.json itself`) },
    );
});
