import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { askApi, told } from '../support/clients/ask-api.ts';
import { openStage } from '../support/daemon/stage.ts';

const { daemon } = await openStage({
  config: {
    models: { spare: { provider: 'openai', model: 'gpt', apiKey: 'sk-1234' } },
    server: { publicUrl: 'http://ada:hidden@chat.example.com' },
    approvalTimeoutSecs: 99,
  },
  env: { HEADGATE_SKIP_CRON: '1' },
});
const PASSWORD = 'correct horse';
const file = path.join(daemon.home, 'config.json');

const ask = (method: string, route: string, { body, token = daemon.token }: { body?: object; token?: string } = {}) =>
  askApi(daemon, [method, route], { body, token });
const put = (key: string, body: object) => ask('PUT', `admin/settings/${key}`, { body });

async function row(key: string) {
  const { body } = await ask('GET', 'admin/settings');
  return body.settings.find((setting: { key: string }) => setting.key === key);
}

const stored = async () => JSON.parse(await readFile(file, 'utf8'));

test('The settings must be listed with their values and sources, and a secret only as `***`', async () => {
  const { status, body } = await ask('GET', 'admin/settings');
  assert.deepEqual([status, JSON.stringify(body).includes('sk-1234')], [200, false]);
  assert.deepEqual(await row('tools.timeout'), {
    ...{ key: 'tools.timeout', value: 120, source: 'default', type: 'int', section: 'tools' },
    description: 'Default time limit of a command in seconds.',
    ...{ is_secret: false, node_id: '', changed_by: '', updated: '', restart_required: false },
  });
  const { value, source } = await row('approvalTimeoutSecs');
  assert.deepEqual([value, source], [99, 'storage']);
  const models = await row('models');
  assert.deepEqual([models.value, models.source, models.is_secret], ['***', 'storage', true]);
  assert.equal((await row('server.publicUrl')).value, '***');
});

test('The schema of the settings must have the default and the range of every setting', async () => {
  const { status, body } = await ask('GET', 'admin/settings/schema');
  const { body: list } = await ask('GET', 'admin/settings');
  const keysOf = (rows: { key: string }[]) => rows.map(({ key }) => key);
  assert.deepEqual([status, keysOf(body.schema)], [200, keysOf(list.settings)]);
  const find = (key: string) => body.schema.find((setting: { key: string }) => setting.key === key);
  assert.deepEqual(find('server.max_workstreams'), {
    ...{ key: 'server.max_workstreams', type: 'int', default: 50, section: 'server' },
    description: 'Maximum workstreams loaded at once. Beyond it, the oldest idle one is unloaded, never deleted.',
    ...{ is_secret: false, min_value: 1, max_value: 10_000, choices: null, help: '', reference_url: '' },
    restart_required: false,
    config_key: 'server.maxWorkstreams',
    settable: true,
  });
  const fixed = (key: string) => find(key).settable === false;
  assert.deepEqual(['oidc.issuer', 'oidc.roleMap', 'models', 'logLevel'].map(fixed), [true, true, true, false]);
  assert.deepEqual(find('durability').choices, ['normal', 'full']);
  assert.deepEqual(
    body.schema.filter(({ description }: { description: string }) => description === ''),
    [],
  );
});

test('the settings of the judge have the names, ranges and defaults of the specification, and its key is secret', async () => {
  const { body } = await ask('GET', 'admin/settings/schema');
  const rows = body.schema.filter(({ section }: { section: string }) => section === 'judge');
  const shown = rows.map((each: Record<string, unknown>) => {
    const { key, type, default: initial, min_value, max_value, is_secret, settable, restart_required } = each;
    return [
      String(key).replace('judge.', ''),
      type,
      initial,
      min_value,
      max_value,
      is_secret,
      settable,
      restart_required,
    ];
  });
  const usual = [false, true, false];
  assert.deepEqual(shown, [
    ['enabled', 'bool', true, null, null, ...usual],
    ['use_model', 'bool', true, null, null, ...usual],
    ['model', 'str', '', null, null, ...usual],
    ['provider', 'str', '', null, null, ...usual],
    ['base_url', 'str', '', null, null, ...usual],
    ['api_key', 'str', '', null, null, true, false, false],
    ['api_key_env', 'str', '', null, null, ...usual],
    ['timeout', 'float', 60, 5, 600, ...usual],
    ['confidence_threshold', 'float', 0.7, 0, 1, ...usual],
    ['max_context_ratio', 'float', 0.5, 0.1, 1, ...usual],
    ['tokens_per_question', 'int', 0, 0, 100_000_000, ...usual],
    ['read_only_tools', 'bool', true, null, null, ...usual],
    ['cancel_on_approval', 'bool', false, null, null, ...usual],
    ['retention_days', 'int', 365, 0, 36_500, ...usual],
    ['output_guard', 'bool', true, null, null, ...usual],
    ['redact_secrets', 'bool', true, null, null, ...usual],
  ]);
});

test('A changed setting must be stored in config.json, and take effect at once unless it needs a restart', async () => {
  const { status, body } = await put('server.max_workstreams', { value: 7 });
  assert.deepEqual(
    [status, body.value, body.source, body.changed_by, body.restart_required],
    [200, 7, 'storage', 'operator', false],
  );
  assert.equal((await (await daemon.fetch('/health')).json()).max_ws, 7);
  const { body: burst } = await put('ratelimit.burst', { value: 30 });
  assert.deepEqual([burst.value, burst.restart_required], [30, true]);
  await put('ratelimit.trusted_proxies', { value: '10.0.0.0/8, 10.1.0.1' });
  const { models, server, ratelimit } = await stored();
  assert.deepEqual([models.spare.apiKey, server.maxWorkstreams], ['sk-1234', 7]);
  assert.deepEqual(ratelimit, { burst: 30, trustedProxies: ['10.0.0.0/8', '10.1.0.1'] });
  const { updated, ...again } = await row('server.max_workstreams');
  assert.deepEqual([again.value, again.changed_by, Date.parse(updated) > 0], [7, 'operator', true]);
});

test('A setting that a flag or the environment replaces must show the value in force', async () => {
  const [port, enabled] = [await row('server.port'), await row('cron.enabled')];
  assert.deepEqual([port.source, enabled.value, enabled.source], ['flag', false, 'environment']);
  const { body } = await put('cron.enabled', { value: true });
  assert.deepEqual([body.value, body.source, (await stored()).cron.enabled], [false, 'environment', true]);
});

test('An unknown setting, a missing value and a value out of range must answer 400 and change nothing', async () => {
  const unchanged = await stored();
  const before = await readFile(file, 'utf8');
  assert.deepEqual(told(await put('no.such', { value: 1 })), [400, 'Unknown setting: no.such']);
  assert.deepEqual(told(await put('tools.timeout', {})), [400, 'value is required']);
  const refusals = [
    ['tools.timeout', 0, 'tools.timeout: must not be below the minimum of 1'],
    ['tools.timeout', 3601, 'tools.timeout: must not be above the maximum of 3600'],
    ['tools.timeout', '60', 'tools.timeout: must be a whole number'],
    ['logLevel', 'loud', 'logLevel: must be one of '],
    ['server.allowedOrigins', ['nowhere'], 'invalid config: server.allowedOrigins.0: must be an origin'],
  ] as const;
  for (const [key, value, error] of refusals) {
    const [status, reason] = told(await put(key, { value }));
    assert.deepEqual([status, reason.slice(0, error.length)], [400, error]);
  }
  assert.equal(await readFile(file, 'utf8'), before);
  // What the next start would refuse, in its words.
  for (const [key, value, problem] of [
    ['workdir', '/etc', /^workdir: Working directory \/etc: it is a system folder$/],
    ['server.host', 'not a host', /^server\.host: "not a host" is not a host\./],
    ['model.name', 'nope', /^model\.name: Unknown model "nope"\. Known: spare, /],
  ] as const) {
    const [status, error] = told(await put(key, { value }));
    assert.equal(status, 400);
    assert.match(String(error), problem);
  }
  assert.deepEqual(await stored(), unchanged);
});

test('A secret setting must answer 403 and stay as it is', async () => {
  const refused = [403, 'Secret settings cannot be modified via API — use config.json or environment variables'];
  assert.deepEqual(told(await put('models', { value: {} })), refused);
  assert.deepEqual(told(await ask('DELETE', 'admin/settings/models')), refused);
  assert.equal((await stored()).models.spare.apiKey, 'sk-1234');
});

test('Resetting a setting must bring its default back, and answer 404 if config.json does not have it', async () => {
  await put('tools.timeout', { value: 60 });
  const reset = () => ask('DELETE', 'admin/settings/tools.timeout');
  assert.deepEqual((await reset()).body, { status: 'ok', key: 'tools.timeout', default: 120 });
  assert.equal((await stored()).tools, undefined);
  assert.equal((await row('tools.timeout')).source, 'default');
  assert.deepEqual(told(await reset()), [404, "Setting 'tools.timeout' not found in storage"]);
  assert.deepEqual(told(await ask('DELETE', 'admin/settings/no.such')), [
    404,
    "Setting 'no.such' not found in storage",
  ]);
});

test('The settings must answer 403 without the permission `admin.settings`', async () => {
  const newUser = async (username: string, permission: string) => {
    const { body: role } = await ask('POST', 'admin/roles', {
      body: { name: username, permissions: `read,${permission}` },
    });
    const person = { username, display_name: username, password: PASSWORD, roles: [role.role_id] };
    await ask('POST', 'admin/users', { body: person });
    return (await ask('POST', 'auth/login', { body: { username, password: PASSWORD } })).body.jwt;
  };
  const [other, admin] = [await newUser('audrey', 'admin.audit'), await newUser('ada', 'admin.settings')];
  const calls = [
    ['GET', 'admin/settings'],
    ['GET', 'admin/settings/schema'],
    ['PUT', 'admin/settings/tools.timeout'],
    ['DELETE', 'admin/settings/tools.timeout'],
    ['POST', '_internal/config-reload'],
  ] as const;
  for (const [method, route] of calls) {
    const hasBody = method === 'PUT' || method === 'POST';
    const answer = await ask(method, route, { token: other, ...(hasBody && { body: { value: 60 } }) });
    assert.deepEqual(told(answer), [403, "Forbidden: missing 'admin.settings' permission"]);
  }
  assert.equal((await ask('GET', 'admin/settings', { token: admin })).status, 200);
});

test('A changed setting must be recorded in the audit trail', async () => {
  await put('heartbeatMinutes', { value: 5 });
  await ask('DELETE', 'admin/settings/heartbeatMinutes');
  const { body } = await ask('GET', 'admin/audit?limit=2');
  assert.deepEqual(
    body.events.map(({ action, resource_id, detail }: Record<string, string>) => [action, resource_id, detail]),
    [
      ['setting.delete', 'heartbeatMinutes', '{}'],
      ['setting.update', 'heartbeatMinutes', '{"value":5}'],
    ],
  );
});

test('an address with a password is in no answer and no record, and keeps who set it until the file is edited', async () => {
  const value = 'http://u:sekretpw@127.0.0.1:9/v1/traces';
  const { status, body } = await put('otel.endpoint', { value });
  assert.deepEqual([status, body.value, (await stored()).otel.endpoint], [200, '***', value]);
  const { body: trail } = await ask('GET', 'admin/audit?limit=1');
  assert.equal(JSON.parse(trail.events[0].detail).value, '***');
  assert.equal(JSON.stringify([body, trail]).includes('sekretpw'), false);
  const told = async (key: string) => {
    const { changed_by, updated } = await row(key);
    return [changed_by, updated !== ''];
  };
  await put('approvalTimeoutSecs', { value: 77 });
  assert.deepEqual(
    [await told('otel.endpoint'), await told('approvalTimeoutSecs')],
    [
      ['operator', true],
      ['operator', true],
    ],
  );
  const now = await stored();
  const edited = { ...now, approvalTimeoutSecs: 88, otel: { endpoint: value.replace('sekret', 'other') } };
  await writeFile(file, JSON.stringify(edited));
  assert.deepEqual(
    [await told('otel.endpoint'), await told('approvalTimeoutSecs')],
    [
      ['', false],
      ['', false],
    ],
  );
  await writeFile(file, JSON.stringify(now));
  await ask('DELETE', 'admin/settings/otel.endpoint');
});

test('a user is named in the same way in the answer to a change and in the list', async () => {
  const person = { username: 'ann', display_name: 'Ann', password: PASSWORD, roles: ['builtin-admin'] };
  await ask('POST', 'admin/users', { body: person });
  const { body: login } = await ask('POST', 'auth/login', { body: { username: 'ann', password: PASSWORD } });
  const change = { body: { value: 78 }, token: login.jwt };
  const { body } = await ask('PUT', 'admin/settings/approvalTimeoutSecs', change);
  assert.deepEqual([body.changed_by, (await row('approvalTimeoutSecs')).changed_by], ['ann', 'ann']);
});

test('A reload must apply the edited file, and answer `noop` if nothing has changed by it', async () => {
  const reload = () => ask('POST', '_internal/config-reload', { body: {} });
  assert.deepEqual((await reload()).body, { status: 'noop' });
  const before = await stored();
  await writeFile(file, `${JSON.stringify({ ...before, server: { ...before.server, maxWorkstreams: 9 } })} // by hand`);
  assert.deepEqual((await reload()).body, { status: 'ok' });
  assert.equal((await (await daemon.fetch('/health')).json()).max_ws, 9);
  await writeFile(file, '{');
  assert.match(told(await reload())[1], /the file: is not JSON/);
  await writeFile(file, '{ "tools": { "timeoutSecs": 0 } }');
  assert.match(told(await reload())[1], /tools\.timeoutSecs: must/);
});
