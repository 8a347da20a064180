import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { GatewayError } from '../../../protocol/errors.ts';
import type { Config } from './config.ts';
import { setUp } from './config-file-fixture.ts';

const TEXT = `// mine
{
  models: { fast: { provider: 'openai', apiKey: 'sk-1234' } }, // keep me
  retentionDays: 7,
}
`;

/** Nested objects; the file is the first level. */
const nested = (levels: number, inside = '1') => `${'{a:'.repeat(levels)}${inside}${'}'.repeat(levels)}`;

test('the file is returned masked, with its hash; without a file every setting has its default', async () => {
  using world = await setUp(TEXT);
  const read = await world.config.read();
  const { hash, raw, config, ...rest } = read;
  assert.equal(raw, TEXT.replace("'sk-1234'", '"<secret:models.fast.apiKey>"'));
  assert.deepEqual(
    [hash.length, (config as Config).retentionDays, JSON.stringify(read).includes('sk-1234')],
    [64, 7, false],
  );
  assert.deepEqual(rest, {
    ...{ path: world.file, exists: true, valid: true, issues: [] },
    parsed: { models: { fast: { provider: 'openai', apiKey: '<secret:models.fast.apiKey>' } }, retentionDays: 7 },
  });
  using none = await setUp();
  const empty = await none.config.read();
  assert.deepEqual([empty.exists, empty.raw, empty.valid], [false, null, true]);
});

test('a broken file is returned with its problems and still without secrets', async () => {
  using world = await setUp(`{ models: { a: { apiKey: 'sk-1' } retentionDays: 0`);
  const { valid, issues, raw, parsed } = await world.config.read();
  assert.deepEqual([valid, issues.length, parsed, raw?.includes('sk-1')], [false, 1, null, false]);
  using wrong = await setUp('{ retentionDays: 0, colour: 1 }');
  assert.deepEqual(
    (await wrong.config.read()).issues.map((issue) => issue.path),
    ['retentionDays'],
  );
  using unknown = await setUp('{ server: { prot: 1 } }');
  const read = await unknown.config.read();
  assert.deepEqual(
    [read.valid, read.issues],
    [true, [{ path: 'server.prot', message: 'is not a setting and has no effect' }]],
  );
});

test('a text is written unchanged, with comments; the old file is kept, and masked secrets keep their values', async () => {
  using world = await setUp(TEXT);
  const { raw, hash } = await world.config.read();
  const next = (raw ?? '').replace('retentionDays: 7', 'retentionDays: 9');
  const changed = await world.config.write(next, hash);
  assert.deepEqual(changed, {
    ...{ path: world.file, issues: [], changed: ['retentionDays'], applied: ['retentionDays'], restart: [] },
    config: { ...(changed.config as object), retentionDays: 9 },
  });
  assert.equal(await world.onDisk(), TEXT.replace('7', '9').replace("'sk-1234'", '"sk-1234"'));
  assert.equal(await readFile(`${world.file}.bak`, 'utf8'), TEXT);
  assert.equal((await stat(world.file)).mode & 0o777, 0o600);
  assert.equal(world.applied[0]?.models?.fast?.apiKey, 'sk-1234');
});

test('a file behind a link is replaced, and the link stays', async () => {
  using world = await setUp();
  const folder = path.join(path.dirname(world.file), 'dotfiles');
  await mkdir(folder);
  await writeFile(path.join(folder, 'mine.json'), '{ retentionDays: 7 }');
  await symlink('dotfiles/mine.json', world.file);
  await world.config.write('{ retentionDays: 9 }', undefined);
  assert.equal(await readlink(world.file), 'dotfiles/mine.json');
  const texts = await Promise.all(
    ['mine.json', 'mine.json.bak'].map((name) => readFile(path.join(folder, name), 'utf8')),
  );
  assert.deepEqual(texts, ['{ retentionDays: 9 }', '{ retentionDays: 7 }']);
});

test('a link in the place of the temporary file is not written through', async () => {
  using world = await setUp('{}');
  const other = path.join(path.dirname(world.file), 'other');
  await writeFile(other, 'mine');
  await symlink(other, `${world.file}.tmp`);
  await world.config.write('{ retentionDays: 9 }', undefined);
  assert.deepEqual([await readFile(other, 'utf8'), await world.onDisk()], ['mine', '{ retentionDays: 9 }']);
});

test('a file that cannot be written is an error that says so, and nothing has changed', async () => {
  using world = await setUp('{}');
  await mkdir(`${world.file}.tmp`);
  await assert.rejects(world.config.write('{ retentionDays: 9 }', undefined), (error: GatewayError) => {
    assert.deepEqual(
      [error.code, error.message.startsWith('config.json cannot be written: EISDIR')],
      ['UNAVAILABLE', true],
    );
    return true;
  });
  assert.deepEqual([await world.onDisk(), world.applied], ['{}', []]);
});

for (const [what, raw, message] of [
  [
    'a text that is not JSON',
    '{ a',
    /^invalid config: the file: is not JSON \(JSON5 is fine\): invalid end of input at 1:4$/,
  ],
  [
    'a blank text, which would prevent a start,',
    ' \n',
    /^invalid config: the file: is empty; write \{\} for the defaults$/,
  ],
  ['a wrong value', '{ retentionDays: 0 }', /^invalid config: retentionDays: must be at least 1$/],
  [
    'a mask without a secret',
    `{ models: { b: { provider: 'openai', apiKey: '<secret:models.b.apiKey>' } } }`,
    /<secret:models\.b\.apiKey> does not match a secret/,
  ],
  [
    'an unset variable',
    `{ channels: { webhook: { gone: { url: 'https://x.example', secretEnv: 'GONE' } } } }`,
    /^invalid config: channels\.webhook\.gone\.secretEnv: the environment has no GONE$/,
  ],
  [
    'a mask in a visible place',
    `{ note: '<secret:models.fast.apiKey>' }`,
    /^note: <secret:models\.fast\.apiKey> would reveal the secret here/,
  ],
  ['a text nested too deeply', nested(33), /^invalid config: a: is nested too deeply \(at most 32 levels\)$/],
  ['a text nested 3000 levels deep', nested(3_000), /^invalid config: a: is nested too deeply \(at most 32 levels\)$/],
] as const) {
  test(`${what} is refused and changes nothing`, async () => {
    using world = await setUp(TEXT);
    await assert.rejects(world.config.write(raw, undefined), { code: 'INVALID_REQUEST', message });
    assert.deepEqual([await world.onDisk(), existsSync(`${world.file}.bak`), world.applied], [TEXT, false, []]);
  });
}

test('the issues of an error name their places', async () => {
  using world = await setUp();
  const refusal = world.config.write('{ retentionDays: 0, tools: { sandbox: 1 } }', undefined);
  await assert.rejects(refusal, ({ details }: GatewayError) => {
    assert.deepEqual(JSON.stringify(details).match(/"path":"[^"]*"/g), [
      '"path":"tools.sandbox"',
      '"path":"retentionDays"',
    ]);
    return true;
  });
});

for (const [what, raw, message] of [
  ['not JSON', '{ a', /^config\.patch raw is not JSON/],
  ['blank', ' ', /^config\.patch raw is empty/],
  ['a list', '[]', /^config\.patch raw must be an object$/],
  ['nested too deeply', nested(3_000), /^invalid config: a: is nested too deeply \(at most 32 levels\)$/],
  ['a mask in a visible place', `{ note: '<secret:models.fast.apiKey>' }`, /^note: <secret:models\.fast\.apiKey> /],
] as const) {
  test(`a patch that is ${what} is refused and changes nothing`, async () => {
    using world = await setUp(TEXT);
    const { hash } = await world.config.read();
    await assert.rejects(world.config.patch(raw, hash), { code: 'INVALID_REQUEST', message });
    assert.equal(await world.onDisk(), TEXT);
  });
}

test('a blank file is reported as invalid, and can be replaced', async () => {
  using world = await setUp('\n');
  const { valid, issues, hash } = await world.config.read();
  assert.deepEqual([valid, issues], [false, [{ path: '', message: 'is empty; write {} for the defaults' }]]);
  await world.config.write('{}', hash);
  assert.equal(await world.onDisk(), '{}');
});

test('a text with the maximum nesting is written and read again', async () => {
  using world = await setUp(TEXT);
  await world.config.write(nested(32), undefined);
  const { valid, issues, hash } = await world.config.read();
  assert.deepEqual([valid, issues], [true, [{ path: 'a', message: 'is not a setting and has no effect' }]]);
  await world.config.patch('{ retentionDays: 7 }', hash);
});

test('a file that is nested too deeply is returned masked and can be replaced', async () => {
  using world = await setUp(nested(3_000, `{apiKey:'canary'}`));
  const { raw, parsed, valid, issues, hash } = await world.config.read();
  assert.deepEqual([raw?.includes('canary'), parsed, valid], [false, null, false]);
  assert.deepEqual(issues, [{ path: 'a', message: 'is nested too deeply (at most 32 levels)' }]);
  await assert.rejects(world.config.patch('{ retentionDays: 7 }', hash), {
    ...{ code: 'INVALID_REQUEST', message: 'invalid config: a: is nested too deeply (at most 32 levels)' },
  });
  const masked = `{ models: { x: { provider: 'openai', apiKey: '<secret:models.x.apiKey>' } } }`;
  await assert.rejects(world.config.write(masked, hash), {
    message: /^<secret:models\.x\.apiKey> does not match a secret/,
  });
  await world.config.write('{ retentionDays: 7 }', hash);
  assert.equal(await world.onDisk(), '{ retentionDays: 7 }');
});

test('a stale base is a conflict', async () => {
  using world = await setUp(TEXT);
  const { hash } = await world.config.read();
  await writeFile(world.file, '{}');
  for (const change of [() => world.config.write('{}', hash), () => world.config.patch('{}', hash)]) {
    await assert.rejects(change, { code: 'CONFLICT', message: /^config changed since last load/ });
  }
});

test('a patch merges objects, removes with null, and replaces everything else', async () => {
  using world = await setUp(TEXT);
  const { hash } = await world.config.read();
  const patch = `{ retentionDays: null, server: { port: 8080 }, models: { fast: { model: 'x' } } }`;
  await world.config.patch(patch, hash);
  assert.deepEqual(JSON.parse(await world.onDisk()), {
    models: { fast: { provider: 'openai', apiKey: 'sk-1234', model: 'x' } },
    server: { port: 8080 },
  });
  const now = (await world.config.read()).hash;
  await assert.rejects(world.config.patch('[]', now), { message: 'config.patch raw must be an object' });
});

test('the schema describes the valid settings', async () => {
  using world = await setUp();
  const { schema, version, generatedAt } = world.config.schema();
  assert.deepEqual([version, generatedAt], ['1.2.3', '1970-01-01T00:00:00.000Z']);
  assert.ok('retentionDays' in (schema.properties as object));
});

test('the hints mark settings that hold secrets or need a restart, one by one in a section with both', async () => {
  using world = await setUp();
  const restart = { restart: true };
  assert.deepEqual(world.config.schema().uiHints, {
    'models.*.apiKey': { sensitive: true },
    answers: restart,
    'tools.sandbox': restart,
    'tools.homePaths': restart,
    'tools.search': restart,
    'tools.search.apiKey': { sensitive: true },
    'tools.limits': restart,
    'server.host': restart,
    'server.port': restart,
    'server.allowedHosts': restart,
    'server.allowedOrigins': restart,
    'server.publicUrl': restart,
    ratelimit: restart,
    auth: restart,
    oidc: restart,
    'judge.apiKey': { sensitive: true },
    'mcp.servers.*.oauth.clientSecret': { sensitive: true },
    'oidc.clientSecret': { sensitive: true },
    'channels.webhook.*.secret': { sensitive: true },
    'channels.ntfy.*.token': { sensitive: true },
    'channels.telegram.botToken': { sensitive: true },
    store: restart,
    durability: restart,
    otel: restart,
    skills: restart,
    workdir: restart,
    workdirs: restart,
  });
});

test('a reload applies the file as it is, and refuses one that is broken or names a missing variable', async () => {
  using world = await setUp(TEXT);
  assert.deepEqual(await world.config.reload(), { applied: ['retentionDays'], restart: [] });
  assert.deepEqual([world.applied[0]?.retentionDays, await world.onDisk()], [7, TEXT]);
  await writeFile(world.file, '{ retentionDays: 0 }');
  await assert.rejects(world.config.reload(), { code: 'INVALID_REQUEST', message: /^invalid config: retentionDays: / });
  const gone = { url: 'https://hooks.example.com', secretEnv: 'GONE' };
  await writeFile(world.file, JSON.stringify({ channels: { webhook: { gone } } }));
  await assert.rejects(world.config.reload(), { message: /the environment has no GONE/ });
  assert.equal(world.applied.length, 1);
});

test('a reload refuses what the next start would refuse, compared with the configuration in force', async () => {
  const asked: [unknown, unknown][] = [];
  using world = await setUp('{ defaultModel: "nope", retentionDays: 9 }', {
    checkStart: async (next, before) => {
      asked.push([next.defaultModel, before?.retentionDays]);
      return [{ path: 'defaultModel', message: 'Unknown model "nope"' }];
    },
  });
  await assert.rejects(world.config.reload(), {
    code: 'INVALID_REQUEST',
    message: 'invalid config: defaultModel: Unknown model "nope"',
  });
  assert.deepEqual([asked, world.applied], [[['nope', 30]], []]);
});
