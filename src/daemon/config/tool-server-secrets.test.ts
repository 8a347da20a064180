import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUp } from './config-file-fixture.ts';
import { createGuardedSecrets } from './guarded-secrets.ts';

const ENV = { PGPASS: 'hush-one', LOG_LEVEL: 'verbose-debug', TOKEN: 'hush-two-12345' };
const HEADERS = { 'X-Auth': 'hush-three' };
const servers = {
  notes: { command: 'notes', args: ['--fast', '--api-key=hush-four', 'db://a:hush-five@b/c'], env: ENV },
  far: { url: 'https://far.example/mcp', headers: HEADERS },
};
const VALUES = /hush|verbose/;

test('all variables and headers of tool servers are masked in config.get, whatever they are called', async () => {
  using world = await setUp(`{ mcp: { servers: ${JSON.stringify(servers)} }, retentionDays: 7 }`);
  const { raw, hash = '', ...rest } = await world.config.read();
  assert.doesNotMatch(JSON.stringify([raw, rest]), VALUES);
  assert.match(raw ?? '', /"LOG_LEVEL":"<secret:mcp\.servers\.notes\.env\.LOG_LEVEL>"/);
  await world.config.write(raw?.replace('7', '8') ?? '', hash);
  assert.match(await world.onDisk(), /"PGPASS":"hush-one".*retentionDays: 8/);
});

test('they are masked in a file that cannot be read, too', async () => {
  for (const broken of [
    `{ mcp: { servers: ${JSON.stringify(servers)} }, retentionDays: }`,
    `{ mcp: { servers: { a: { command: 'x', env: { A: '\${B}', C: 'hush', D: hush, E: "hush`,
    `{ "headers": { "X-One": "hush" "X-Two": 'hush' }, env : {PGPASS: "hush"`,
  ]) {
    using world = await setUp(broken);
    const read = await world.config.read();
    assert.equal(read.valid, false);
    assert.doesNotMatch(JSON.stringify(read), VALUES, broken);
  }
});

test('outputs of tools hide the variables of tool servers that look like secrets, and no others', () => {
  const config = { mcp: { servers } };
  const known = createGuardedSecrets({ config, environment: {} }).current();
  const found = ['hush-two-12345', 'verbose-debug'].map((text) => known.find(text, 0).length);
  assert.deepEqual(found, [1, 0]);
});
