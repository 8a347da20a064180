import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { NEW_SERVER } from '../../mcp/server-input.ts';
import { maskServer, secretsOfServer, unmaskServer } from '../../mcp/server-masks.ts';
import { build, statementOf } from '../../store/statements.ts';
import { type WholeGateway, wholeGateway } from '../../testing/whole-gateway.ts';

const NOTES = {
  name: 'notes',
  command: 'notes',
  args: ['--fast', '--api-key=hush-four'],
  env: { TOKEN: 'hush-one', MODE: 'plain' },
};
const shownOf = ({ env, args, command }: McpServer) => ({ env, args, command });
const audited = async ({ call }: WholeGateway) =>
  (await call('audit.list', {})).events
    .map(({ action, outcome, detail }) => [action, outcome, JSON.parse(detail)])
    .toReversed();

test('a server is added, shown with masks, changed, and removed; it is there after a restart', async () => {
  await using gateway = await wholeGateway();
  const { call } = gateway;
  const made = await call('mcp.create', NOTES);
  const masked = { env: { TOKEN: '***', MODE: '***' }, args: ['--fast', '--api-key=***'], command: 'notes' };
  assert.deepEqual(shownOf(made), masked);
  assert.deepEqual([made.source, made.createdBy, made.transport, made.enabled], ['store', 'ada', 'stdio', true]);
  await gateway.restart();
  const { serverId } = made;
  assert.deepEqual(shownOf(await call('mcp.get', { serverId })), masked);
  const changed = await call('mcp.update', {
    serverId,
    ...masked,
    env: { TOKEN: '***', MORE: 'hush-two' },
    enabled: false,
  });
  assert.equal(changed.enabled, false);
  assert.deepEqual(shownOf(await call('mcp.get', { serverId, reveal: true })), {
    env: { TOKEN: 'hush-one', MORE: 'hush-two' },
    args: NOTES.args,
    command: 'notes',
  });
  await call('mcp.delete', { serverId });
  assert.deepEqual(await call('mcp.list', {}), { servers: [] });
  await gateway.restart();
  assert.deepEqual(await call('mcp.list', {}), { servers: [] });
  const records = await audited(gateway);
  assert.deepEqual(
    records.map(([action]) => action),
    ['mcp.create', 'mcp.update', 'mcp.reveal', 'mcp.delete'],
  );
  assert.deepEqual(records[0]?.[2], {
    ...{ name: 'notes', enabled: true, autoApprove: false, command: 'notes --fast --api-key=***' },
    ...{ env: ['TOKEN', 'MODE'], network: [], folders: [], writesFolders: false, sandbox: true },
  });
  assert.doesNotMatch(JSON.stringify([records, gateway.log.lines]), /hush/);
});

test('a mask stands for the stored value of its place only, and not for that of another address', async () => {
  await using gateway = await wholeGateway();
  const { call, refusal } = gateway;
  const { serverId } = await call('mcp.create', {
    name: 'far',
    url: 'https://far.example/mcp?token=hush-url',
    headers: { Authorization: 'Bearer hush-three' },
  });
  const far = await call('mcp.get', { serverId });
  assert.deepEqual([far.url, far.headers], ['https://far.example/mcp?token=***', { Authorization: '***' }]);
  await call('mcp.update', { serverId, url: far.url, headers: { ...far.headers, 'X-Two': 'two' } });
  const { url, headers } = await call('mcp.get', { serverId, reveal: true });
  assert.deepEqual(
    [url, headers],
    ['https://far.example/mcp?token=hush-url', { Authorization: 'Bearer hush-three', 'X-Two': 'two' }],
  );
  const refusals = [
    await refusal('mcp.update', { serverId, url: 'https://evil.example/mcp', headers: { Authorization: '***' } }),
    await refusal('mcp.update', { serverId, url: 'https://evil.example/mcp?token=***' }),
    await refusal('mcp.update', { serverId, headers: { 'X-Other': '***' } }),
    await refusal('mcp.create', { name: 'new', command: 'x', env: { TOKEN: '***' } }),
    await refusal('mcp.create', { name: 'new', command: 'x', args: ['--key=***'] }),
  ];
  assert.deepEqual(
    refusals.map(({ message }) => message.split(':')[0]),
    ['headers.Authorization', 'url', 'headers.X-Other', 'env.TOKEN', 'args.0'],
  );
  // Another address without its headers loses them.
  await call('mcp.update', { serverId, url: 'https://other.example/mcp', headers: {} });
  assert.doesNotMatch(JSON.stringify(await call('mcp.get', { serverId, reveal: true })), /hush/);
});

test('names and settings that do not fit are refused with the words of the specification', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('mcp.create', { name: 'a_b', command: 'x' });
  const tried: [object, string][] = [
    [{ name: '', command: 'x' }, 'name cannot be empty'],
    [{ name: 'a b', command: 'x' }, 'name must match [a-zA-Z0-9._-]+'],
    [{ name: '../a', command: 'x' }, 'name must match [a-zA-Z0-9._-]+'],
    [{ name: 'a__b', command: 'x' }, "name must not contain '__' (reserved delimiter)"],
    [{ name: '..', command: 'x' }, 'name must have at most 64 characters, and not only dots'],
    [{ name: 'n'.repeat(65), command: 'x' }, 'name must have at most 64 characters, and not only dots'],
    [{ name: 'a_b', command: 'x' }, "Server 'a_b' already exists"],
    [{ name: 'A.B', command: 'x' }, "Server 'a_b' already exists, and rules could not tell 'A.B' from it"],
    [{ name: 'n', transport: 'sse', url: 'https://x.example' }, "transport must be 'stdio' or 'streamable-http'"],
    [{ name: 'n', transport: 'stdio' }, 'command is required for stdio transport'],
    [{ name: 'n', transport: 'streamable-http' }, 'url is required for streamable-http transport'],
    [{ name: 'n' }, 'command is required for stdio transport'],
    [{ name: 'n', command: 'wrong' }, 'command: is wrong'],
    [
      { name: 'n', command: 'x', sandbox: false },
      'sandbox: only servers of config.json may run outside the sandbox of this machine',
    ],
  ];
  for (const [params, message] of tried)
    assert.equal((await gateway.refusal('mcp.create', params)).message, message, JSON.stringify(params));
  const [variable, header] = [`$${'{HOME}'}`, `Bearer $${'{TOKEN}'}`];
  for (const given of [
    { command: 'x', env: { A: variable } },
    { url: 'https://x.example', headers: { A: header } },
  ])
    assert.match(
      (await gateway.refusal('mcp.create', { name: 'n', ...given })).message,
      /^(env|headers)\.A: variables of the daemon/,
    );
  assert.equal((await gateway.refusal('mcp.get', { serverId: 'nobody' })).message, 'MCP server not found');
  assert.equal((await gateway.refusal('mcp.delete', { serverId: 'nobody' })).code, 'NOT_FOUND');
  assert.match(
    (await gateway.refusal('mcp.delete', { serverId: 'config:notes' })).message,
    /only in config\.json itself/,
  );
});

test('without a sandbox on the machine, a server may run without one', async () => {
  await using gateway = await wholeGateway({ notSandboxed: 'a test' });
  const { sandbox } = await gateway.call('mcp.create', { name: 'n', command: 'x', sandbox: false });
  assert.equal(sandbox, false);
});

test('a damaged row is listed, can be removed, and hinders neither the start nor a rotation', async () => {
  await using gateway = await wholeGateway();
  const { call } = gateway;
  const good = await call('mcp.create', NOTES);
  const bad = await call('mcp.create', { ...NOTES, name: 'bad' });
  const name = `tool_server:${bad.serverId}`;
  const damage = build.updateTable('secrets').set({ sealed: 'v1.000000000000.AAAA' }).where('name', '=', name);
  await gateway.store.commit({ statements: [statementOf(damage, 1)] });
  await gateway.restart();
  await call('secrets.rotate', {});
  await gateway.restart();
  const { servers } = await call('mcp.list', {});
  assert.deepEqual(
    servers.map(({ serverId, problem }) => [serverId, problem]).sort(),
    [
      [good.serverId, undefined],
      [bad.serverId, 'is damaged in the database; remove it and add it again'],
    ].sort(),
  );
  assert.deepEqual((await call('mcp.get', { serverId: good.serverId, reveal: true })).env, NOTES.env);
  await call('mcp.delete', { serverId: bad.serverId });
  assert.equal((await call('mcp.list', {})).servers.length, 1);
});

test('a change that cannot be stored has no effect', async () => {
  await using gateway = await wholeGateway();
  const { serverId } = await gateway.call('mcp.create', NOTES);
  gateway.disk.fails = () => true;
  for (const [method, params] of [
    ['mcp.create', { ...NOTES, name: 'more' }],
    ['mcp.update', { serverId, enabled: false }],
    ['mcp.delete', { serverId }],
    ['mcp.import', { config: { mcpServers: { other: { command: 'x' } } } }],
  ] as const)
    assert.equal((await gateway.refusal(method, params)).code, 'UNAVAILABLE');
  gateway.disk.fails = undefined;
  const { servers } = await gateway.call('mcp.list', {});
  assert.deepEqual(
    servers.map(({ name, enabled }) => [name, enabled]),
    [['notes', true]],
  );
});

test('an import adds what fits in one unit, and says what was left out', async () => {
  await using gateway = await wholeGateway();
  await gateway.call('mcp.create', NOTES);
  const config = {
    mcpServers: {
      notes: { command: 'x' },
      files: { command: 'npx', args: ['-y', 'files'], env: { PORT: 80, TOKEN: 'hush-one' }, cwd: '/tmp' },
      far: { type: 'http', url: 'https://far.example/mcp', disabled: true },
      old: { type: 'sse', url: 'https://old.example/sse' },
      odd: ['x'],
      'a b': { command: 'x' },
    },
  };
  const dry = await gateway.call('mcp.import', { config, dryRun: true });
  assert.equal((await gateway.call('mcp.list', {})).servers.length, 1);
  const done = await gateway.call('mcp.import', { config });
  assert.deepEqual(done, dry);
  assert.deepEqual(done, {
    imported: ['files', 'far'],
    skipped: ['notes'],
    errors: [
      'old: the transport sse is not supported; use the address for streamable-http, if it has one',
      'odd: must be an object',
      'a b: name must match [a-zA-Z0-9._-]+',
    ],
    notes: [
      'files: cwd is not used here',
      'files: it may connect to registry.npmjs.org only; add the hosts that it needs',
    ],
  });
  const { servers } = await gateway.call('mcp.list', {});
  assert.deepEqual(
    servers.map(({ name, enabled, autoApprove }) => [name, enabled, autoApprove]),
    [
      ['far', false, false],
      ['files', true, false],
      ['notes', true, false],
    ],
  );
  for (const empty of [{}, { mcpServers: {} }, { mcpServers: [] }])
    assert.equal((await gateway.refusal('mcp.import', { config: empty })).message, 'No mcpServers found in config');
});

test('only who administers tool servers sees or changes them', async () => {
  await using gateway = await wholeGateway();
  const { serverId } = await gateway.call('mcp.create', NOTES);
  const plain = { permissions: new Set(['admin.users'] as const) };
  for (const [method, params] of [
    ['mcp.list', {}],
    ['mcp.get', { serverId }],
    ['mcp.create', { name: 'n', command: 'x' }],
    ['mcp.update', { serverId, enabled: false }],
    ['mcp.delete', { serverId }],
    ['mcp.import', { config: { mcpServers: {} } }],
    ['mcp.reload', {}],
    ['mcp.registry.search', {}],
    ['mcp.registry.install', { registryName: 'x', source: 'package' }],
  ] as const)
    assert.equal((await gateway.refusal(method, params, plain)).code, 'FORBIDDEN', method);
});

test('an address is refused as a command with the right field; a stored one shows no credentials', async () => {
  await using gateway = await wholeGateway();
  const { call, refusal } = gateway;
  const command = 'https://ada:hush-pass@x.example/mcp?token=hush-token';
  const { message } = await refusal('mcp.create', { name: 'far', command });
  assert.equal(message, 'command is an address; give it as url, with the transport streamable-http');
  const { errors } = await call('mcp.import', { config: { mcpServers: { far: { command } } } });
  assert.deepEqual(errors, [`far: ${message}`]);
  const masked = maskServer({ ...NEW_SERVER, command, args: ['https://ghp-hush-lone@x.example/'] });
  assert.deepEqual(
    [masked.command, masked.args],
    ['https://ada:***@x.example/mcp?token=***', ['https://***@x.example/']],
  );
  assert.deepEqual(
    unmaskServer({ ...NEW_SERVER, command: masked.command }, { ...NEW_SERVER, command }).command,
    command,
  );
  assert.deepEqual(
    secretsOfServer({ ...NEW_SERVER, command }).filter((secret) => secret.includes('hush')).length > 1,
    true,
  );
});
