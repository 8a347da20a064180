import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage();
const file = path.join(daemon.home, 'config.json');

test('config.json is read, written and patched over the wire; the answer lists the changes that need a restart', async () => {
  const client = await daemon.client();
  const before = await client.call('config.get', {});
  assert.deepEqual([before.exists, before.raw, before.valid], [false, null, true]);
  const raw = `// ours\n{ server: { maxWorkstreams: 2 }, models: { x: { provider: 'openai', apiKey: 'sk-canary' } }, workdirs: ['/srv'] }\n`;
  const set = await client.call('config.set', { raw, baseHash: before.hash, extended: true });
  assert.deepEqual([set.applied, set.restart, set.issues], [['models', 'server.maxWorkstreams'], ['workdirs'], []]);
  assert.equal(await readFile(file, 'utf8'), raw);
  await client.call('workstream.create', { name: 'second' });
  await client.call('workstream.create', { name: 'third' });
  const { workstreams } = await client.call('workstream.list', {});
  assert.equal(workstreams.length, 2); // the oldest idle one made room
  const now = await client.call('config.get', {});
  assert.equal(JSON.stringify(now).includes('sk-canary'), false);
  const patched = await client.call('config.patch', { raw: '{ server: null }', baseHash: now.hash });
  assert.deepEqual(Object.keys(patched), ['ok', 'path', 'config', 'issues']);
  assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), {
    models: { x: { provider: 'openai', apiKey: 'sk-canary' } },
    workdirs: ['/srv'],
  });
  const refused = client.call('config.set', { raw: '{ retentionDays: 0 }' });
  await assert.rejects(refused, { code: 'INVALID_REQUEST', message: /retentionDays/ });
});

test('config.set and config.patch return the issues of the written configuration, and a refusal those of the refused one', async () => {
  const client = await daemon.client();
  const noSetting = [{ path: 'colour', message: 'is not a setting and has no effect' }];
  assert.deepEqual((await client.call('config.set', { raw: '{ retentionDays: 9 }' })).issues, []);
  assert.deepEqual((await client.call('config.set', { raw: '{ retentionDays: 9, colour: 1 }' })).issues, noSetting);
  const { hash, issues } = await client.call('config.get', {});
  assert.deepEqual(issues, noSetting);
  const patched = await client.call('config.patch', { raw: '{ colour: 2 }', baseHash: hash });
  assert.deepEqual(patched.issues, noSetting);
  await assert.rejects(client.call('config.set', { raw: '{ retentionDays: 0 }' }), {
    details: { issues: [{ path: 'retentionDays', message: 'must be at least 1' }] },
  });
});

test('the read scope may read the configuration and its schema but not change it', async (t) => {
  const { token } = await (await daemon.client()).call('token.create', { name: 'reader', scope: 'read' });
  await writeFile(file, '{ retentionDays: 9 }');
  const reader = createGatewayClient({ url: daemon.wsUrl, token, client: { name: 'e2e', version: '1', mode: 'test' } });
  t.after(() => reader.close());
  await reader.connect();
  const { raw, parsed } = await reader.call('config.get', {});
  assert.deepEqual([raw, parsed], ['{ retentionDays: 9 }', { retentionDays: 9 }]);
  assert.ok('properties' in (await reader.call('config.schema', {})).schema);
  for (const method of ['config.set', 'config.patch'] as const) {
    await assert.rejects(reader.call(method, { raw: '{}', baseHash: 'x' }), { code: 'FORBIDDEN' });
  }
  assert.equal(await readFile(file, 'utf8'), '{ retentionDays: 9 }');
});

test('neither writing masks back nor deep nesting reveals a secret or makes the configuration unreadable', async () => {
  const client = await daemon.client();
  await writeFile(file, `{ models: { x: { provider: 'openai', apiKey: 'sk-canary' } } }`);
  const nested = `${'{a:'.repeat(3_000)}1${'}'.repeat(3_000)}`;
  for (const [raw, message] of [
    ['{ note: "<secret:models.x.apiKey>" }', /^note: <secret:models\.x\.apiKey> /],
    [nested, /^invalid config: a: is nested too deeply/],
  ] as const) {
    await assert.rejects(client.call('config.set', { raw }), { code: 'INVALID_REQUEST', message });
  }
  await writeFile(file, nested);
  assert.equal((await client.call('config.get', {})).valid, false);
  await client.call('config.set', { raw: '{ retentionDays: 9 }' });
  assert.deepEqual((await client.call('config.get', {})).parsed, { retentionDays: 9 });
});
