import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Contract } from '../../protocol/contract.ts';
import { CONTRACTS } from '../../protocol/index.ts';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { readBody } from '../support/clients/read-body.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';

const inbound = { burst: 1_000_000, perSecond: 1_000 };
const daemon = await startClockedDaemon({ server: { inbound }, ratelimit: { enabled: false } });
after(() => daemon[Symbol.asyncDispose]());
const operator = await daemon.connect();
const PASSWORD = 'correct horse';
const MINUTE_MS = 60_000;

const JOB = {
  schedule: { kind: 'every', everyMs: 86_400_000 },
  ...{ sessionTarget: 'isolated', wakeMode: 'now' },
  payload: { kind: 'agentTurn', message: 'hi', deliver: true, channel: 'nowhere', to: 'x' },
};
const onEach = (methods: string[], params: object) => methods.map((method): [string, object] => [method, params]);
/** Every call that needs a fresh proof, written a second time. Most params do nothing: what they name does not exist. */
const NEEDED: readonly [string, object][] = [
  ['config.set', { raw: '{}', baseHash: 'old' }],
  ['config.patch', { raw: '{}', baseHash: 'old' }],
  ['config.reload', {}],
  ['models.test', { model: 'x', candidate: { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } }],
  ['settings.set', { key: 'nothing', value: 1 }],
  ['settings.reset', { key: 'nothing' }],
  ['token.create', { name: 'ci', scope: 'read' }],
  ['token.revoke', { tokenId: 'nobody' }],
  // No channel has this name, so nothing is created.
  ['cron.add', { ...JOB, approval: { mode: 'allow', tools: ['bash'] } }],
  ['cron.update', { id: 'nobody', patch: { approval: { mode: 'allow', tools: ['bash'] } } }],
  ['schedule.create', { autoApproveTools: ['bash'] }],
  ['node.pair.approve', { requestId: 'nobody' }],
  ['channel.pair', { channel: 'nowhere', code: 'x' }],
  ...onEach(['channel.revoke', 'channel.restore'], { channel: 'nowhere', senderId: '1' }),
  ...onEach(['node.token.rotate', 'node.token.revoke'], { nodeId: 'nobody' }),
  ['user.create', { username: '', displayName: '', password: '' }],
  ...onEach(['user.update', 'user.delete'], { userId: 'nobody' }),
  ['user.token.create', { userId: 'nobody', name: 'x' }],
  ...onEach(['user.role.assign', 'user.role.unassign'], { userId: 'nobody', roleId: 'x' }),
  ['role.create', { name: '', permissions: [] }],
  ...onEach(['role.update', 'role.delete'], { roleId: 'nobody' }),
  ['secrets.rotate', {}],
  ['daemon.restart', { check: true }],
  ['mcp.accept', { name: 'nobody' }],
  ['mcp.list', { reveal: true }],
  ...onEach(['mcp.update', 'mcp.delete'], { serverId: 'nobody' }),
  ['mcp.get', { serverId: 'nobody', reveal: true }],
  ['mcp.create', { name: '' }],
  ['mcp.import', { config: {} }],
  ['mcp.registry.install', { registryName: 'nobody', source: 'none' }],
  ['mcp.consent.revoke', { server: 'nobody' }],
  ['coordinator.trust', { wsId: 'nobody', send: true }],
  ['skill.update', { skillId: 'nobody', autoApprove: true }],
  ['policy.create', { name: '' }],
  ...onEach(['policy.update', 'policy.delete'], { policyId: 'nobody' }),
  ['rule.create', { action: 'allow', match: { tool: 'bash' }, wsId: 'nobody' }],
  ...onEach(['rule.update', 'rule.delete'], { ruleId: 'nobody' }),
  ['oidc.identity.add', { userId: 'nobody', subject: 'x' }],
  ['oidc.identity.remove', { issuer: 'nobody', subject: 'x' }],
  ['auth.link', {}],
  ['workstream.create', { autoApprove: true, resumeWs: 'nobody' }],
  ['workstream.update', { wsId: 'nobody', autoApprove: true }],
  ['workstream.approve', { wsId: 'nobody', approved: true, always: true }],
  ['workstream.approve', { wsId: 'nobody', approved: true, fromNotification: true }],
  ['approval.resolve', { approvalId: 'nobody', approved: true, always: true }],
  ...onEach(['wstemplate.create', 'skill.create'], { autoApprove: true }),
  ['wstemplate.create', { autoApproveTools: 'bash' }],
  ['wstemplate.update', { wsTemplateId: 'nobody', autoApprove: true }],
];

/** The same methods where they give nothing away. */
const NOT_NEEDED: readonly [string, object][] = [
  ['workstream.create', { resumeWs: 'nobody' }],
  ['workstream.update', { wsId: 'nobody', autoApprove: false }],
  ['workstream.approve', { wsId: 'nobody', approved: true }],
  ['approval.resolve', { approvalId: 'nobody', approved: false }],
  ['rule.create', { action: 'deny', match: { tool: 'bash' }, wsId: 'nobody' }],
  ['wstemplate.create', { autoApprove: false, autoApproveTools: ' ' }],
  ['cron.add', { ...JOB, approval: { mode: 'wait' } }],
  ['cron.update', { id: 'nobody', patch: { approval: { mode: 'deny' }, enabled: true } }],
  ['schedule.create', { autoApproveTools: [] }],
  ['node.pair.reject', { requestId: 'nobody' }],
  ...onEach(['config.get', 'settings.list', 'token.list', 'user.list'], {}),
];

interface Login {
  username: string;
  jwt: string;
}

const toAdd = (username: string) => ({ username, display_name: username, password: PASSWORD });
let people = 0;
async function newAdmin(): Promise<Login> {
  people += 1;
  const username = `admin-${people}`;
  await operator.call('user.create', { username, displayName: username, password: PASSWORD, roles: ['builtin-admin'] });
  return { username, jwt: await logIn({ username, password: PASSWORD }) };
}

async function logIn(credential: object): Promise<string> {
  return ((await operator.call('auth.login', credential)) as Login).jwt;
}

/** As the page opens it: the cookie comes with the upgrade. */
async function openBrowser(jwt: string) {
  const headers = { cookie: `service_auth=${jwt}`, origin: daemon.url };
  const client = await openClient(daemon.wsUrl, headers);
  await client.call('connect', CONNECT);
  return client;
}

async function openProgram(token: string) {
  const client = await openClient(daemon.wsUrl, {});
  await client.call('connect', { ...CONNECT, auth: { token } });
  return client;
}

type Client = Awaited<ReturnType<typeof openBrowser>>;

/** The details of the step-up that a call was refused with; undefined if it was not. */
async function refused(client: Client, [method, params]: readonly [string, object]): Promise<unknown> {
  const { error } = await client.request(method, params);
  const { reason } = (error?.details ?? {}) as { reason?: string };
  return reason === 'step_up' ? { code: error?.code, details: error?.details } : undefined;
}

const post = (path: string, jwt: string, body: object) => ask(['POST', path], jwt, body);

const ask = ([method, path]: readonly [string, string], jwt: string, body: object) =>
  fetch(new URL(`/v1/api/${path}`, daemon.url), {
    method,
    headers: { cookie: `service_auth=${jwt}`, 'content-type': 'application/json', origin: daemon.url },
    body: JSON.stringify(body),
  });

const answerOf = async (response: Response) => ({ status: response.status, ...(await readBody(response)) });

const STEP_UP_ANSWER = {
  ...{ status: 403, code: 'step_up' },
  error:
    'Forbidden: the login is older than 5 minutes; confirm it with your password, or log in again through your provider',
};

test('the rows that need a fresh proof are the expected ones', () => {
  const rows: [string, Contract][] = Object.entries(CONTRACTS);
  const asking = rows.filter(([, row]) => row.stepUp !== undefined).map(([method]) => method);
  assert.deepEqual(new Set(asking), new Set(NEEDED.map(([method]) => method)));
});

test('a call that needs a fresh proof must be refused to a browser session whose proof is five minutes old', async () => {
  const { jwt } = await newAdmin();
  const browser = await openBrowser(jwt);
  const program = await openProgram(jwt);
  await daemon.clock.advance(5 * MINUTE_MS - 1);
  for (const call of NEEDED) assert.equal(await refused(browser, call), undefined, `${call[0]} in time`);
  await daemon.clock.advance(1);
  const expected = { code: 'FORBIDDEN', details: { reason: 'step_up', by: 'password' } };
  for (const call of NEEDED) assert.deepEqual(await refused(browser, call), expected, call[0]);
  for (const call of NOT_NEEDED) assert.equal(await refused(browser, call), undefined, call[0]);
  for (const call of NEEDED) assert.equal(await refused(program, call), undefined, `${call[0]} with a Bearer token`);
});

test('A browser session must be answered 403 with the code `step_up` when its proof is five minutes old', async () => {
  const { jwt } = await newAdmin();
  const before = await post('admin/users', jwt, toAdd('early'));
  assert.equal(before.status, 200);
  await daemon.clock.advance(5 * MINUTE_MS);
  const calls: [string, string, object][] = [
    ['POST', 'admin/users', toAdd('late')],
    ['PUT', 'admin/settings/heartbeatMinutes', { value: 3 }],
    ['DELETE', 'admin/tokens/nobody', {}],
    ['POST', 'approve', { ws_id: 'nobody', approved: true, always: true }],
    ['POST', 'workstreams/new', { auto_approve: true }],
  ];
  for (const [method, path, body] of calls) {
    assert.deepEqual(await answerOf(await ask([method, path], jwt, body)), STEP_UP_ANSWER, path);
  }
  const listed = await fetch(new URL('/v1/api/admin/users', daemon.url), {
    headers: { cookie: `service_auth=${jwt}` },
  });
  assert.equal(listed.status, 200);
  assert.ok(!(await listed.text()).includes('"late"'));
});

test('A Bearer token must not be asked for a fresh proof', async () => {
  const { jwt } = await newAdmin();
  await daemon.clock.advance(5 * MINUTE_MS);
  const headers = { authorization: `Bearer ${jwt}`, 'content-type': 'application/json' };
  const body = JSON.stringify(toAdd('by-program'));
  const made = await fetch(new URL('/v1/api/admin/users', daemon.url), { method: 'POST', headers, body });
  assert.equal(made.status, 200);
});

test('`auth/confirm` with the password must renew the proof of the session, on open sockets too', async () => {
  const { jwt } = await newAdmin();
  const browser = await openBrowser(jwt);
  await daemon.clock.advance(5 * MINUTE_MS);
  assert.ok(await refused(browser, ['auth.link', {}]));
  assert.deepEqual(await answerOf(await post('auth/confirm', jwt, { password: PASSWORD })), { status: 'ok' });
  assert.equal(await refused(browser, ['auth.link', {}]), undefined);
  await daemon.clock.advance(5 * MINUTE_MS);
  assert.ok(await refused(browser, ['auth.link', {}]), 'for five minutes');
  await browser.call('auth.confirm', { password: PASSWORD });
  const made = await post('admin/users', jwt, toAdd('confirmed'));
  assert.equal(made.status, 200);
});

test('A refreshed login must keep the proof of the one before, and a browser its duty to renew it', async () => {
  const { jwt } = await newAdmin();
  await daemon.clock.advance(4 * MINUTE_MS);
  const refreshed = (await (await post('auth/refresh', jwt, {})).json()) as Login;
  const browser = await openBrowser(refreshed.jwt);
  const script = await openProgram(refreshed.jwt); // a script in the page could read it from the answer
  assert.equal(await refused(browser, ['auth.link', {}]), undefined);
  await daemon.clock.advance(MINUTE_MS);
  assert.ok(await refused(browser, ['auth.link', {}]));
  assert.ok(await refused(script, ['auth.link', {}]));
});

test('A session that began with a link must renew its proof by a new link or by the token, of the same credential', async () => {
  const codeOf = async (client: Client) =>
    ((await client.call('auth.link', {})) as { url: string }).url.split('#login=')[1] ?? '';
  const browser = await openBrowser(await logIn({ code: await codeOf(operator) }));
  await daemon.clock.advance(5 * MINUTE_MS);
  const expected = { code: 'FORBIDDEN', details: { reason: 'step_up', by: 'link' } };
  assert.deepEqual(await refused(browser, ['auth.link', {}]), expected);
  const other = (await operator.call('token.create', { name: 'ci', scope: 'approve' })) as { token: string };
  const foreign = await browser.request('auth.confirm', { token: other.token });
  assert.deepEqual(
    [foreign.error?.code, foreign.error?.message],
    ['FORBIDDEN', 'This link or token is valid, but it does not belong to this login.'],
  );
  const nothing = await browser.request('auth.confirm', { password: PASSWORD });
  assert.equal(nothing.error?.code, 'INVALID_REQUEST');
  assert.deepEqual(await refused(browser, ['auth.link', {}]), expected);
  const code = await codeOf(operator);
  await browser.call('auth.confirm', { code });
  assert.equal(await refused(browser, ['auth.link', {}]), undefined);
  const again = await browser.request('auth.confirm', { code });
  assert.equal(again.error?.message, 'This link or token is not valid. Get a new one.');
  await daemon.clock.advance(5 * MINUTE_MS);
  await browser.call('auth.confirm', { token: daemon.token });
  assert.equal(await refused(browser, ['auth.link', {}]), undefined);
});

test('a template that allows calls without asking must need a fresh proof where it is used', async () => {
  const { jwt } = await newAdmin();
  const browser = await openBrowser(jwt);
  await browser.call('wstemplate.create', { name: 'bold', autoApprove: true });
  await browser.call('wstemplate.create', { name: 'handy', autoApproveTools: 'read_file' });
  await browser.call('wstemplate.create', { name: 'careful' });
  await daemon.clock.advance(5 * MINUTE_MS);
  assert.ok(await refused(browser, ['workstream.create', { wsTemplate: 'bold' }]));
  assert.ok(await refused(browser, ['workstream.create', { wsTemplate: 'handy' }]));
  assert.equal(await refused(browser, ['workstream.create', { wsTemplate: 'careful' }]), undefined);
});

test('`auth/confirm` must need a login, and answer 400 to other credentials', async () => {
  const headers = { 'content-type': 'application/json' };
  const url = new URL('/v1/api/auth/confirm', daemon.url);
  const body = JSON.stringify({ password: PASSWORD });
  assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 401);
  const authorization = `Bearer ${daemon.token}`;
  assert.equal((await fetch(url, { method: 'POST', headers: { ...headers, authorization }, body })).status, 400);
});

test('A wrong password at `auth/confirm` must answer 403, renew nothing, and count as a failed login', async () => {
  const { jwt, username } = await newAdmin();
  await daemon.clock.advance(5 * MINUTE_MS);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const answer = await answerOf(await post('auth/confirm', jwt, { password: `wrong ${attempt}` }));
    assert.deepEqual(answer, { status: 403, error: 'The password is wrong' });
  }
  const locked = await post('auth/confirm', jwt, { password: PASSWORD });
  assert.deepEqual([locked.status, locked.headers.get('retry-after')], [429, '300']);
  assert.equal((await post('auth/login', '', { username, password: PASSWORD })).status, 429);
  assert.deepEqual(
    await answerOf(await post('admin/users', jwt, { username: 'x', password: PASSWORD })),
    STEP_UP_ANSWER,
  );
  await daemon.clock.advance(60 * MINUTE_MS);
});

test('a proof survives a restart, and no clock that is set back prolongs it', async () => {
  const { jwt } = await newAdmin();
  await daemon.clock.advance(3 * MINUTE_MS);
  await daemon.restart();
  const browser = await openBrowser(jwt);
  assert.equal(await refused(browser, ['auth.link', {}]), undefined);
  await daemon.clock.advance(2 * MINUTE_MS);
  assert.ok(await refused(browser, ['auth.link', {}]));
  await browser.call('auth.confirm', { password: PASSWORD });
  daemon.clock.jump(-60 * MINUTE_MS);
  await daemon.clock.advance(5 * MINUTE_MS);
  assert.ok(await refused(browser, ['auth.link', {}]));
});
