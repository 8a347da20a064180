import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { needs } from '../../src/testing/needs.ts';
import { callersOf } from '../support/clients/callers.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';

const sandboxed = await needs('bubblewrap');
const SERVERS = '/v1/api/admin/mcp-servers';
const fileOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const FAKE = fileOf('src/agent/mcp/misbehaving-server.ts');
const servers = { fixed: { command: 'nothing', enabled: false, env: { PGPASS: 'hush-fixed' } } };
const { daemon } = await openStage({ config: { mcp: { servers } } });
const { operator, newUser } = callersOf(daemon);
afterEach(async () => {
  const { body } = await operator(`GET ${SERVERS}`);
  for (const { server_id, source } of body.servers)
    if (source === 'db') await operator(`DELETE ${SERVERS}/${server_id}`);
});
const listed = async () => (await operator(`GET ${SERVERS}`)).body.servers;

test('A tool server must be added, listed, changed and removed with the fields of its record', async () => {
  const { status, body } = await operator(`POST ${SERVERS}`, {
    name: 'notes',
    command: 'nothing',
    args: ['-x'],
    enabled: false,
  });
  assert.equal(status, 200, JSON.stringify(body));
  const { server_id, created, updated, created_by, status: states, ...rest } = body;
  assert.match(server_id, /^mcp_/);
  assert.deepEqual([created_by, updated, Object.keys(states).length], ['operator', created, 1]);
  assert.deepEqual(rest, {
    ...{ name: 'notes', transport: 'stdio', command: 'nothing', args: '["-x"]', url: '', headers: '{}', env: '{}' },
    ...{ auth_type: 'none', oauth_scopes: '', oauth_client_id: '', oauth_issuer: '', oauth_client_secret: '' },
    ...{ network: [], folders: [], writes_folders: false, sandbox: true, auto_approve: false, enabled: false },
    ...{ timeout_secs: 120, registry_name: '', registry_version: '', registry_meta: '{}', source: 'db' },
  });
  assert.deepEqual(
    (await listed()).map(({ name, source }: { name: string; source: string }) => [name, source]),
    [
      ['fixed', 'config'],
      ['notes', 'db'],
    ],
  );
  const changed = await operator(`PUT ${SERVERS}/${server_id}`, { ...body, args: ['-y'], name: 'other' });
  assert.deepEqual([changed.status, changed.body.name, changed.body.args], [200, 'other', '["-y"]']);
  const moved = await operator(`PUT ${SERVERS}/${server_id}`, {
    transport: 'streamable-http',
    url: 'https://x.example/mcp',
  });
  assert.deepEqual([moved.body.command, moved.body.url], ['', 'https://x.example/mcp']);
  assert.deepEqual(await operator(`DELETE ${SERVERS}/${server_id}`), { status: 200, body: { status: 'ok' } });
  assert.equal((await listed()).length, 1);
});

test('Secrets of a tool server must be shown as `***` without `reveal`, and a mask that is sent back must keep the stored value', async () => {
  const given = {
    command: 'nothing',
    args: ['--api-key=hush-1'],
    env: { TOKEN: 'hush-2', MODE: 'hush-3' },
    enabled: false,
  };
  const { body } = await operator(`POST ${SERVERS}`, { name: 'notes', ...given });
  const place = `${SERVERS}/${body.server_id}`;
  assert.deepEqual([body.env, body.args], ['{"TOKEN":"***","MODE":"***"}', '["--api-key=***"]']);
  await operator(`PUT ${place}`, { ...body, env: { TOKEN: '***', NEW: 'hush-4' } });
  const { body: revealed } = await operator(`GET ${place}?reveal=true`);
  assert.deepEqual([revealed.env, revealed.args], ['{"TOKEN":"hush-2","NEW":"hush-4"}', '["--api-key=hush-1"]']);
  const { body: all } = await operator(`GET ${SERVERS}?reveal=true`);
  assert.match(JSON.stringify(all), /hush-2/);
  assert.doesNotMatch(JSON.stringify(all), /hush-fixed/, 'those of config.json stay hidden');
  const hidden = [
    await operator(`GET ${SERVERS}`),
    await operator(`GET ${place}`),
    await operator('GET /v1/api/_internal/mcp-status'),
  ];
  const { body: audit } = await operator('GET /v1/api/admin/audit?limit=200');
  const settings = await operator('GET /v1/api/admin/settings');
  const client = await daemon.client();
  const rest = [
    await client.call('config.get', {}),
    await client.call('secrets.status', {}),
    await client.call('logs.tail', { limit: 500 }),
  ];
  assert.doesNotMatch(JSON.stringify([hidden, audit, settings, rest]), /hush-/);
  assert.equal(audit.events.filter(({ action }: { action: string }) => action === 'mcp.reveal').length, 2);
  assert.doesNotMatch(JSON.stringify(daemon.output()), /hush-/);
  const { stdout } = await runHeadgate(['doctor', '--json'], { HEADGATE_HOME: daemon.home });
  assert.doesNotMatch(stdout, /hush-/);
});

test('A tool server with a wrong or missing field must answer 400 with its name, and one whose name exists 409', async () => {
  const refusals: [object, number, RegExp][] = [
    [{ command: 'x' }, 400, /^name cannot be empty$/],
    [{ name: 'a/b', command: 'x' }, 400, /^name must match \[a-zA-Z0-9\._-\]\+$/],
    [{ name: '..', command: 'x' }, 400, /^name must have/],
    [{ name: 'a__b', command: 'x' }, 400, /^name must not contain '__' \(reserved delimiter\)$/],
    [{ name: 'n', transport: 'sse' }, 400, /^transport must be 'stdio' or 'streamable-http'$/],
    [{ name: 'n', transport: 'stdio' }, 400, /^command is required for stdio transport$/],
    [{ name: 'n', transport: 'streamable-http' }, 400, /^url is required for streamable-http transport$/],
    [{ name: 'n', url: 'file:///etc/passwd' }, 400, /^url: /],
    [{ name: 'n', url: 'text' }, 400, /^url: /],
    [{ name: 'n', url: 'https://u:hush@x.example/' }, 400, /^url: must not contain/],
    [{ name: 'n', command: 'x', env: '{"A":1}' }, 400, /^env must be an object of texts/],
    [{ name: 'n', command: 'x', env: { LD_PRELOAD: 'x' } }, 400, /^env\.LD_PRELOAD: cannot be set/],
    [{ name: 'n', command: 'x', args: 'x' }, 400, /^args must be an array of texts/],
    [{ name: 'n', command: 'x', folders: [daemon.home] }, 400, /^folders\.0: .*Headgate’s own folder$/],
    [{ name: 'n', command: 'x', folders: ['/'] }, 400, /^folders\.0: .*whole disk$/],
    [{ name: 'n', command: 'x', network: ['a b'] }, 400, /^network\.0: must be a host/],
    [{ name: 'n', command: 'x', timeout_secs: 0 }, 400, /^timeout_secs: /],
    [{ name: 'fixed', command: 'x' }, 409, /^Server 'fixed' already exists$/],
    [{ name: 'Fixed', command: 'x' }, 409, /^Server 'fixed' already exists, and rules/],
  ];
  for (const [fields, status, error] of refusals) {
    const answer = await operator(`POST ${SERVERS}`, fields);
    assert.equal(answer.status, status, JSON.stringify([fields, answer.body]));
    assert.match(answer.body.error, error);
  }
  assert.equal((await listed()).length, 1);
  const fixed = await operator(`PUT ${SERVERS}/config:fixed`, { enabled: true });
  assert.match(`${fixed.status} ${fixed.body.error}`, /^400 .*only in config\.json itself/);
});

test('Tool servers must answer 403 without the permission `admin.mcp`, and 404 `MCP server not found` for an unknown id', async () => {
  const { call } = await newUser('olga', ['builtin-operator']);
  for (const route of [
    `GET ${SERVERS}`,
    `POST ${SERVERS}`,
    `GET ${SERVERS}/x`,
    `POST ${SERVERS}/import`,
    'GET /v1/api/admin/mcp-registry/search',
  ])
    assert.equal((await call(route, route.startsWith('POST') ? { config: {} } : undefined)).status, 403, route);
  for (const verb of ['GET', 'PUT', 'DELETE']) {
    const answer = await operator(`${verb} ${SERVERS}/nobody`, verb === 'PUT' ? { enabled: true } : undefined);
    assert.deepEqual(answer, { status: 404, body: { ...answer.body, error: 'MCP server not found' } });
  }
});

test('An import must add the servers that fit, and name those that exist or do not fit', async () => {
  const mcpServers = {
    one: { command: 'nothing', disabled: true },
    fixed: { command: 'x' },
    old: { type: 'sse', url: 'https://x.example' },
  };
  const { status, body } = await operator(`POST ${SERVERS}/import`, { config: { mcpServers } });
  assert.deepEqual([status, body.imported, body.skipped, body.errors.length], [200, ['one'], ['fixed'], 1]);
  for (const [given, words] of [
    [{}, /config is required/],
    [{ config: {} }, /^No mcpServers found in config$/],
  ] as const) {
    const refused = await operator(`POST ${SERVERS}/import`, given);
    assert.match(`${refused.status} ${refused.body.error}`.slice(4), words);
  }
});

test('Both reload paths must answer a service token, which may change no tool server', async () => {
  const client = await daemon.client();
  const { token } = await client.call('token.create', { name: 'other machine', scope: 'service' });
  const call = (method: string, path: string) =>
    daemon.fetch(path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(method === 'POST' && { body: '{"name":"n","command":"x"}' }),
    });
  for (const path of ['/_internal/mcp-reload', '/v1/api/_internal/mcp-reload']) {
    const answer = await call('POST', path);
    const body: { status: string; results: object } = await answer.json();
    assert.deepEqual([answer.status, body.status, Object.keys(body.results).length], [200, 'ok', 1]);
    assert.equal(
      (await daemon.fetch(path, { method: 'POST', headers: { Authorization: 'Bearer wrong' } })).status,
      401,
    );
  }
  assert.equal((await call('GET', '/v1/api/_internal/mcp-status')).status, 200);
  assert.equal((await call('POST', SERVERS)).status, 403);
});

test(
  'a server that was added works in the sandbox, is changed without a restart, and survives one',
  sandboxed,
  async () => {
    const fake = { command: process.execPath, args: [FAKE, 'well'], folders: [fileOf('.').replace(/\/$/, '')] };
    const { body } = await operator(`POST ${SERVERS}`, { name: 'fake', ...fake });
    const client = await daemon.client();
    const { state, tools } = await client.call('mcp.refresh', { name: 'fake' });
    assert.deepEqual([state, tools.map(({ name }) => name)], ['connected', ['mcp__fake__greet']]);
    await operator(`PUT ${SERVERS}/${body.server_id}`, { args: [FAKE, 'many'] });
    const many = await client.call('mcp.refresh', { name: 'fake' });
    assert.equal(many.tools.filter(({ isGone }) => !isGone).length, 30);
    await daemon.kill9();
    await daemon.restart();
    const [again] = await listed();
    assert.deepEqual([again.name, again.server_id], ['fake', body.server_id]);
  },
);
