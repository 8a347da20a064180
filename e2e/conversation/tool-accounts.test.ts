import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { openStage } from '../support/daemon/stage.ts';
import { consentAt, startAccountServer } from '../support/oidc/account-server.ts';
import { accountConfig, inner, type Person, peopleOf } from '../support/oidc/people.ts';
import { WebVisitor } from '../support/oidc/web-visitor.ts';

const server = await startAccountServer();
const stage = await openStage({ config: accountConfig(server) });
const { daemon } = stage;
after(() => server[Symbol.asyncDispose]());
const { newPerson, use, start } = peopleOf(stage, 'notes');
const ada = await newPerson('ada');
const bob = await newPerson('bob');

const errorOf = (output: string) => JSON.parse(output).error;
const pendingOf = async (person: Person) => (await person.ask('GET /v1/api/mcp/oauth/pending')).body;
const connectionsOf = async (person: Person) =>
  (await person.ask('GET /v1/api/mcp/oauth/connections')).body.connections;
/** Goes through with it and comes back. */
const connect = async (person: Person, scopes?: string) =>
  person.open(await person.consent(scopes === undefined ? {} : { scopes }));
const countOf = (part: string) => server.asked.filter((one) => one === part).length;

test('before anybody has connected an account, the model gets the address for the person, and it is pending', async () => {
  assert.deepEqual(await pendingOf(ada), { pending: 0, servers: [], consents: [] });
  const error = errorOf(await ada.use('connect'));
  assert.deepEqual(
    [error.code, error.server, error.consent_url],
    ['mcp_consent_required', 'notes', `${daemon.url}/v1/api/mcp/oauth/start?server=notes`],
  );
  const { pending, servers } = await pendingOf(ada);
  assert.deepEqual([pending, servers, (await pendingOf(bob)).pending], [1, ['notes'], 0]);
  assert.equal(server.tokens.size, 0);
});

test('A consent must count once, for the browser that began it, and only with the issuer that was asked', async () => {
  assert.equal(await ada.open(await ada.consent({ refuses: true })), '/?mcp_oauth_error=denied');
  const callback = `${daemon.url}/v1/api/mcp/oauth/callback`;
  assert.equal(
    await ada.open(`${callback}?code=x&state=${'0'.repeat(16)}.${'0'.repeat(64)}`),
    '/?mcp_oauth_error=expired',
  );
  const wrong = new URL(await ada.consent());
  wrong.searchParams.set('iss', 'https://evil.example');
  assert.equal(await ada.open(wrong.href), '/?mcp_oauth_error=provider_refused');
  wrong.searchParams.set('iss', server.issuer);
  assert.equal(await ada.open(wrong.href), '/?mcp_oauth_error=expired', 'it was used up');
  const unnamed = new URL(await ada.consent());
  unnamed.searchParams.delete('iss');
  assert.equal(await ada.open(unnamed.href), '/?mcp_oauth_error=provider_refused');
  const lured = await ada.consent();
  assert.equal(await bob.open(lured), '/?mcp_oauth_error=other_browser');
  assert.deepEqual([await connectionsOf(ada), await connectionsOf(bob)], [[], []]);
  assert.equal(countOf('/token'), 0, 'no code was redeemed');
  assert.equal((await new WebVisitor().get(start)).status, 401);
});

test('a consent asks with PKCE, a state and the resource; a code counts once; then calls are made with the account', async () => {
  const response = await ada.visitor.get(start);
  const { state, code_challenge, client_id, ...rest } = Object.fromEntries(
    new URL(response.headers.get('location') ?? '').searchParams,
  );
  assert.deepEqual(rest, {
    ...{ response_type: 'code', code_challenge_method: 'S256', scope: 'notes.read offline_access', prompt: 'consent' },
    ...{ redirect_uri: `${daemon.url}/v1/api/mcp/oauth/callback`, resource: server.url },
  });
  assert.match(`${state} ${code_challenge} ${client_id}`, /^[0-9a-f]{16}\.[0-9a-f]{64} [\w-]{43} \S+$/);
  assert.match(
    response.headers.get('set-cookie') ?? '',
    /^service_mcp_[0-9a-f]{16}=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600/,
  );
  const back = await ada.consent();
  assert.equal(await ada.open(back), '/?mcp_oauth_success=notes');
  assert.equal(await ada.open(back), '/?mcp_oauth_error=expired');
  assert.equal((await pendingOf(ada)).pending, 0);
  assert.equal(countOf('/reg'), 1, 'one client for all consents');
  await ada.client.call('mcp.consent.list', {});
  const operator = await daemon.client();
  await assert.rejects(operator.call('mcp.refresh', { name: 'notes' }), { code: 'UNAVAILABLE' });
  assert.equal(inner(await ada.use('whoami')), 'ada-account');
});

test('A call to a tool server must use the account of the person who asked for it, never that of somebody else', async () => {
  const error = errorOf(await bob.use('whoami'));
  assert.equal(error.code, 'mcp_consent_required');
  assert.equal(errorOf(await use(await daemon.client(), 'whoami')).code, 'mcp_consent_required');
  assert.equal(server.calls.length, 1);
  await connect(bob);
  const { wsId } = await ada.client.call('workstream.create', { visibility: 'shared' });
  assert.deepEqual(
    [inner(await ada.use('whoami', wsId)), inner(await bob.use('whoami', wsId)), inner(await ada.use('whoami', wsId))],
    ['ada-account', 'bob-account', 'ada-account'],
  );
  const sessions = new Map(server.calls.map(({ account, session }) => [account, session]));
  assert.equal(new Set(sessions.values()).size, 2, 'each has a session of its own');
  for (const { account, session } of server.calls) assert.equal(session, sessions.get(account));
});

test('resources and prompts are those of the account of whoever asks', async () => {
  const note = { server: 'notes', uri: 'note://ada-account' };
  assert.match(await ada.useTool('list_resources', {}), /note:\/\/ada-account/);
  assert.doesNotMatch(await bob.useTool('list_resources', {}), /ada-account/);
  assert.match(await ada.useTool('read_resource', note), /The note of ada-account\./);
  assert.match(await bob.useTool('read_resource', note), /The note of bob-account\./);
  assert.match(await bob.useTool('list_prompts', {}), /greet-bob-account/);
  const operator = await daemon.client();
  const { wsId } = await operator.call('workstream.create', {});
  const { error = '' } = await operator.call('workstream.command', { wsId, command: '/prompt notes greet-x' });
  assert.match(error, /has to connect an account .*\/v1\/api\/mcp\/oauth\/start\?server=notes$/);
});

test('a server of the database is used with accounts, which end with it', async () => {
  const operator = await daemon.client();
  const settings = { name: 'stored', url: server.url, oauth: {}, autoApprove: true };
  const { serverId, authType } = await operator.call('mcp.create', settings);
  assert.equal(authType, 'oauth_user');
  const start = `${daemon.url}/v1/api/mcp/oauth/start?server=stored`;
  const back = await consentAt(start, { as: 'ada-account', visitor: ada.visitor, back: daemon.url });
  assert.equal(await ada.open(back), '/?mcp_oauth_success=stored');
  assert.equal(inner(await ada.useTool('mcp__stored__whoami', {})), 'ada-account');
  const servers = JSON.parse(JSON.stringify(await connectionsOf(ada))).map((one: { server: string }) => one.server);
  assert.deepEqual(servers.toSorted(), ['notes', 'stored']);
  await operator.call('mcp.delete', { serverId });
  const again = await operator.call('mcp.create', settings);
  assert.equal(errorOf(await ada.useTool('mcp__stored__whoami', {})).code, 'mcp_consent_required');
  assert.equal(JSON.parse(JSON.stringify(await connectionsOf(ada))).length, 1);
  await operator.call('mcp.delete', { serverId: again.serverId });
});

test('a call that lacks a right says which, and the next consent asks for it', async () => {
  const error = errorOf(await ada.use('write_note'));
  assert.deepEqual([error.code, error.scopes_required], ['mcp_insufficient_scope', ['notes.write']]);
  assert.deepEqual((await pendingOf(ada)).pending, 1);
  const { status, body } = await ada.ask('GET /v1/api/mcp/oauth/start?server=notes&scopes=admin');
  assert.deepEqual([status, String(body.error).includes('admin')], [400, true]);
  assert.equal(await connect(ada), '/?mcp_oauth_success=notes');
  assert.equal(inner(await ada.use('write_note')), 'ada-account');
  const [connection] = JSON.parse(JSON.stringify(await connectionsOf(ada)));
  assert.deepEqual(connection.scopes.toSorted(), ['notes.read', 'notes.write']);
});

test('A token of a tool server must be renewed once for all calls that need it, and never shown', async () => {
  const before = countOf('/token');
  server.forgetTokens();
  const outputs = await Promise.all([ada.use('whoami'), ada.use('whoami')].map((one) => one.then(inner)));
  assert.ok(
    outputs.every((one) => one === 'ada-account'),
    String(outputs),
  );
  assert.equal(countOf('/token') - before, 1);
  assert.doesNotMatch(inner(await ada.use('echo_token')), /^[\w-]{20,}$/);
});

test('without the provider a call can be tried again; a refresh token that ended needs a new consent', async () => {
  server.forgetTokens();
  server.intercept = (route, response) => {
    if (route !== '/token') return false;
    response.writeHead(503).end('<h1>later</h1>');
    return true;
  };
  assert.equal(errorOf(await bob.use('whoami')).code, 'mcp_refresh_unavailable');
  server.intercept = (route, response) => {
    if (route !== '/token') return false;
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error": "invalid_grant"}');
    return true;
  };
  assert.equal(errorOf(await bob.use('whoami')).code, 'mcp_consent_required');
  server.intercept = undefined;
  assert.deepEqual(await connectionsOf(bob), []);
  await connect(bob);
  assert.equal(inner(await bob.use('whoami')), 'bob-account');
});

test('A consent that a kill interrupted must begin again; one that was begun before a restart must go on', async () => {
  const asked = Promise.withResolvers<void>();
  server.intercept = (route) => {
    if (route === '/token') asked.resolve();
    return route === '/token';
  };
  const [lost, kept] = [await ada.consent(), await ada.consent()];
  const hanging = ada.open(lost).catch(() => 'the daemon is gone');
  await asked.promise;
  await daemon.kill9();
  assert.equal(await hanging, 'the daemon is gone');
  server.intercept = undefined;
  await daemon.restart();
  assert.equal(await ada.open(lost), '/?mcp_oauth_error=expired');
  assert.equal(await ada.open(kept), '/?mcp_oauth_success=notes');
  await ada.client.connect().catch(() => undefined);
  assert.equal(inner(await ada.use('whoami')), 'ada-account');
});

test('An account must end with its user, with a disconnection and with a revocation of all', async () => {
  const before = countOf('/token/revocation');
  assert.equal((await ada.ask('DELETE /v1/api/mcp/oauth/connections/notes')).status, 200);
  assert.equal((await ada.ask('DELETE /v1/api/mcp/oauth/connections/notes')).status, 404);
  assert.equal(errorOf(await ada.use('whoami')).code, 'mcp_consent_required');
  assert.equal((await ada.ask('DELETE /v1/api/mcp/oauth/pending/notes')).status, 204);
  assert.equal((await ada.ask('DELETE /v1/api/mcp/oauth/pending')).status, 204);
  assert.equal((await pendingOf(ada)).pending, 0);
  await connect(ada);
  const route = '/v1/api/admin/mcp-servers/notes/bulk-revoke';
  assert.equal((await ada.ask(`POST ${route}`)).status, 403);
  assert.deepEqual((await daemon.post(route, {})).body, { status: 'ok', rows_deleted: 2, consented_users_before: 2 });
  assert.deepEqual((await daemon.post('/v1/api/admin/mcp-servers/other/bulk-revoke', {})).body, {
    error: 'No such server',
  });
  assert.deepEqual([await connectionsOf(ada), await connectionsOf(bob)], [[], []]);
  while (countOf('/token/revocation') < before + 3) await new Promise(setImmediate);
});

test('an account ends with its user', async () => {
  const eve = await newPerson('eve');
  await connect(eve);
  const operator = await daemon.client();
  const before = countOf('/token/revocation');
  await operator.call('user.update', { userId: eve.userId, disabled: true });
  while (countOf('/token/revocation') === before) await new Promise(setImmediate);
  const { rowsDeleted } = await operator.call('mcp.consent.revoke', { server: 'notes' });
  assert.equal(rowsDeleted, 0);
});

test('the operator connects an account from the terminal', async () => {
  const env = { HEADGATE_HOME: daemon.home };
  const login = await spawnHeadgate({ args: ['mcp', 'login', 'notes'], env });
  await login.printed(/Waiting for your consent/, 'stderr'); // what is connected before does not count
  const visitor = new WebVisitor();
  const [, code = ''] = /#login=(\S+)/.exec((await runHeadgate(['link'], env)).stdout) ?? [];
  await visitor.get(`${daemon.url}/v1/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  await visitor.get(await consentAt(start, { as: 'root-account', visitor, back: daemon.url }));
  await login.printed(/An account is connected to notes\. It has the rights notes\.read/, 'stderr');
  assert.equal((await login.exited).code, 0);
  assert.equal(inner(await use(await daemon.client(), 'whoami')), 'root-account');
  assert.match(
    (await runHeadgate(['mcp', 'accounts'], env)).stdout,
    /^SERVER +ACCOUNT +RIGHTS\nnotes +connected +notes\.read/,
  );
  assert.match((await runHeadgate(['mcp', 'logout', 'notes'], env)).stderr, /^Disconnected\./);
});

test('no token is in any file of the home, nor in the log', async () => {
  const files = await readdir(daemon.home, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((one) => one.isFile()).map((one) => readFile(path.join(one.parentPath, one.name), 'latin1')),
  );
  const { stdout, stderr } = daemon.output();
  const all = [...texts, stdout, stderr].join('\n');
  assert.ok(server.tokens.size > 5, 'there were tokens');
  for (const header of server.tokens) assert.equal(all.includes(header.replace('Bearer ', '')), false);
});
