import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { askApi, told } from '../support/clients/ask-api.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { startProvider } from '../support/oidc/provider.ts';
import { finish, logInAs, oidcConfig, toCallback } from '../support/oidc/provider-login.ts';
import { WebVisitor } from '../support/oidc/web-visitor.ts';

const provider = await startProvider();
const roleMap = { staff: 'builtin-operator', boss: 'builtin-admin', ghosts: 'no-such-role' };
const daemon = await startDaemon({ config: oidcConfig(provider, { roleClaim: 'groups', roleMap }) });
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
await provider.serve(daemon.url);

const AUTHORIZE = `${daemon.url}/v1/api/auth/oidc/authorize`;
const PASSWORD = 'correct horse';
const ask = (method: string, path: string, asked: Parameters<typeof askApi>[2] = {}) =>
  askApi(daemon, [method, path], { token: daemon.token, ...asked });
const beforeSetup = await ask('GET', 'auth/oidc/authorize');
const root = await ask('POST', 'auth/setup', { body: { username: 'root', display_name: 'R', password: PASSWORD } });

let visitors = 0;
const newVisitor = () => {
  visitors += 1;
  return new WebVisitor({ address: `10.0.1.${visitors}` });
};
const logIn = (name: string, visitor = newVisitor()) => logInAs(name, daemon, visitor);
const whoIs = async (token: string | undefined) =>
  (await askApi(daemon, ['GET', 'auth/whoami'], { token: token ?? '' })).body;
const userOf = async (username: string) =>
  (await ask('GET', `admin/users?query=${username}`)).body.users.find(
    (user: { username: string }) => user.username === username,
  );

test('A login through the provider must not create the first user', () => {
  assert.deepEqual(told(beforeSetup), [403, 'Create the first user before logging in through a provider']);
});

test('The login must send the browser to the provider with PKCE, a state and a nonce, and give it a cookie', async () => {
  const response = await fetch(AUTHORIZE, { redirect: 'manual' });
  const url = new URL(response.headers.get('location') ?? '');
  const { state, nonce, code_challenge, ...rest } = Object.fromEntries(url.searchParams);
  assert.deepEqual(
    [response.status, url.origin, rest],
    [
      302,
      provider.issuer,
      {
        ...{ client_id: 'headgate', response_type: 'code', code_challenge_method: 'S256' },
        ...{ scope: 'openid profile email groups', redirect_uri: `${daemon.url}/v1/api/auth/oidc/callback` },
      },
    ],
  );
  for (const text of [state, nonce, code_challenge]) assert.match(text ?? '', /^[\w-]{43}$/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.match(
    response.headers.get('set-cookie') ?? '',
    /^service_oidc=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
  );
  const behindProxy = await fetch(`${AUTHORIZE}?prompt=login`, { redirect: 'manual' });
  const fresh = new URL(behindProxy.headers.get('location') ?? '').searchParams;
  assert.deepEqual([fresh.get('prompt'), fresh.get('max_age')], ['login', '300']);
  const { body: status } = await ask('GET', 'auth/status');
  assert.deepEqual(
    [status.oidc_enabled, status.oidc_provider_name, status.oidc_login_url, status.password_enabled],
    [true, 'the Lab', AUTHORIZE, true],
  );
});

test('The callback must log in, create the user at the first login only, and record both', async () => {
  provider.know({ lin: { name: 'Lin <b>', preferred_username: 'lin@lab.example', groups: ['staff'] } });
  const { end, jwt } = await logIn('lin');
  assert.equal(end, 'oidc_success=1');
  const { user_id, username, display_name, scopes } = await whoIs(jwt);
  assert.deepEqual([username, display_name, scopes], ['lin', 'Lin <b>', 'read,write']);
  assert.equal((await whoIs((await logIn('lin')).jwt)).user_id, user_id);
  const { body } = await ask('GET', `admin/audit?action=auth.login&user_id=${user_id}`);
  assert.deepEqual(
    body.events.map(({ detail }: { detail: string }) => JSON.parse(detail)),
    [
      { issuer: provider.issuer, subject: 'lin', created: false, rolesGiven: [], rolesTaken: [] },
      { issuer: provider.issuer, subject: 'lin', created: true, rolesGiven: ['builtin-operator'], rolesTaken: [] },
    ],
  );
  assert.deepEqual(told(await ask('POST', 'auth/login', { body: { username: 'lin', password: '' } })), [
    401,
    'Invalid credentials',
  ]);
});

test('The callback must finish only a login that began in the same browser, and only once', async () => {
  provider.know({ kay: { preferred_username: 'kay', groups: ['staff'] } });
  const kay = newVisitor();
  const callback = await toCallback('kay', daemon, kay);
  const stranger = newVisitor();
  const EXPIRED = { end: 'oidc_error=expired', jwt: undefined };
  assert.deepEqual(await finish(callback, daemon, stranger), EXPIRED, 'without a cookie');
  await stranger.get(AUTHORIZE);
  assert.deepEqual(await finish(callback, daemon, stranger), EXPIRED, 'with the cookie of another login');
  const forged = kay.cookie(daemon.url, 'service_oidc')?.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) ?? '';
  stranger.setCookie(daemon.url, 'service_oidc', forged);
  assert.deepEqual(await finish(callback, daemon, stranger), EXPIRED, 'with a changed cookie');
  const pending = kay.cookie(daemon.url, 'service_oidc') ?? '';
  await daemon.restart();
  assert.equal((await finish(callback, daemon, kay)).end, 'oidc_success=1', 'a restart in between changes nothing');
  assert.equal(kay.cookie(daemon.url, 'service_oidc'), undefined);
  stranger.setCookie(daemon.url, 'service_oidc', pending);
  assert.deepEqual(await finish(callback, daemon, stranger), EXPIRED, 'a second time');
  await stranger.get(AUTHORIZE);
  const code = new URL(callback).searchParams.get('code') ?? '';
  const next = new URL(await toCallback('kay', daemon, stranger));
  next.searchParams.set('code', code);
  assert.equal((await finish(next.href, daemon, stranger)).end, 'oidc_error=provider_refused', 'a used code');
});

test('The callback must accept answers of the configured provider only, and repeat none of its words', async () => {
  const visitor = newVisitor();
  const answer = async (change: (query: URLSearchParams) => void) => {
    const url = new URL(await toCallback('kay', daemon, visitor));
    visitor.forget(daemon.url);
    const again = new URL(await toCallback('kay', daemon, visitor));
    assert.notEqual(again.searchParams.get('state'), url.searchParams.get('state'));
    change(again.searchParams);
    return (await finish(again.href, daemon, visitor)).end;
  };
  assert.equal(await answer((query) => query.set('iss', 'https://evil.example')), 'oidc_error=invalid_token');
  assert.equal(await answer((query) => query.delete('iss')), 'oidc_error=invalid_token');
  assert.equal(await answer((query) => query.delete('code')), 'oidc_error=invalid_token');
  const refusal = (error: string) => (query: URLSearchParams) => {
    query.delete('code');
    query.set('error', error);
    query.set('error_description', '<script>alert(1)</script>');
  };
  assert.equal(await answer(refusal('access_denied')), 'oidc_error=denied');
  assert.equal(await answer(refusal('server_error\r\nX: 1')), 'oidc_error=provider_refused');
  assert.equal(await answer((query) => query.set('redirect', 'https://evil.example')), 'oidc_success=1');
});

test('A person of the provider must not become the local user with the same name or address', async () => {
  provider.know({ eve: { name: 'root', preferred_username: 'ROOT', email: 'root@lab.example', email_verified: true } });
  const who = await whoIs((await logIn('eve')).jwt);
  assert.deepEqual([who.username, who.scopes], ['ROOT-2', 'read']);
  assert.notEqual(who.user_id, root.body.user_id);
});

test('Roles must follow the groups of each login; roles that people assigned must stay', async () => {
  const groups = async (listed: unknown) => {
    provider.know({ sam: { preferred_username: 'sam', groups: listed } });
    const { end, jwt } = await logIn('sam');
    return end === 'oidc_success=1' ? (await whoIs(jwt)).scopes : end;
  };
  assert.equal(await groups(['boss', 'ghosts']), 'read,write,approve');
  assert.equal(await groups('staff'), 'read,write');
  for (const odd of [
    undefined,
    null,
    7,
    true,
    {},
    [['boss']],
    [{ boss: 1 }],
    { boss: true },
    'boss ',
    ['BOSS'],
    'x'.repeat(5_000),
  ])
    assert.equal(await groups(odd), 'read', JSON.stringify(odd)?.slice(0, 40));
  const { user_id } = await userOf('sam');
  const earlier = (await logIn('sam')).jwt;
  await ask('POST', `admin/users/${user_id}/roles`, { body: { role_id: 'builtin-admin' } });
  assert.equal(await groups(['staff']), 'read,write,approve');
  assert.equal((await whoIs(earlier)).scopes, 'read,write,approve', 'also of earlier logins');
  await ask('DELETE', `admin/users/${user_id}/roles/builtin-admin`);
  assert.equal(await groups([]), 'read');
  assert.equal((await whoIs(earlier)).scopes, 'read');
});

test('A disabled user must stay disabled', async () => {
  provider.know({ max: { preferred_username: 'max' } });
  await logIn('max');
  const { user_id } = await userOf('max');
  await ask('PUT', `admin/users/${user_id}`, { body: { disabled: true } });
  provider.know({ max: { preferred_username: 'max', groups: ['boss'] } });
  assert.deepEqual(await logIn('max'), { end: 'oidc_error=account_disabled', jwt: undefined });
  assert.deepEqual((await userOf('max')).roles, ['builtin-viewer']);
});

test('A provider that answers wrongly must end the login, and the next one must work', async () => {
  provider.know({ kay: { preferred_username: 'kay' } });
  const trouble: Record<string, NonNullable<typeof provider.intercept>> = {
    'a redirect': (path, response) => path === '/token' && !!response.writeHead(307, { location: '/token' }).end(),
    'an error': (path, response) => path === '/token' && !!response.writeHead(500).end('<html>'),
    'a huge answer': (path, response) =>
      path === '/token' && !!response.writeHead(200, { 'content-type': 'application/json' }).end(' '.repeat(2_000_000)),
    'a cut connection': (path, response) => path === '/token' && !!response.destroy(),
    'an error of the user info': (path, response) => path === '/me' && !!response.writeHead(503).end(),
  };
  for (const [name, intercept] of Object.entries(trouble)) {
    const visitor = newVisitor();
    const callback = await toCallback('kay', daemon, visitor);
    provider.intercept = intercept;
    const { end, jwt } = await finish(callback, daemon, visitor);
    provider.intercept = undefined;
    assert.deepEqual([end, jwt], ['oidc_error=provider_unavailable', undefined], name);
  }
  assert.equal((await logIn('kay')).end, 'oidc_success=1');
});

test('Administrators must be able to list, add and remove the people who are a user', async () => {
  const zoe = { username: 'zoe', display_name: 'Zoe', password: PASSWORD };
  const { body: made } = await ask('POST', 'admin/users', { body: zoe });
  const path = `admin/users/${made.user_id}/oidc-identities`;
  const { status, body: added } = await ask('POST', path, { body: { subject: 'zoe@idp' } });
  assert.deepEqual(
    [status, added.issuer, added.subject, added.user_id, added.last_login],
    [...[200, provider.issuer, 'zoe@idp', made.user_id, null]],
  );
  assert.deepEqual(told(await ask('POST', path, { body: { subject: 'zoe@idp' } })), [
    409,
    'This person is a user already',
  ]);
  const { jwt } = await logIn('zoe@idp');
  assert.equal((await whoIs(jwt)).username, 'zoe');
  const { body: listed } = await ask('GET', path);
  assert.deepEqual(
    listed.oidc_identities.map(({ subject, last_login }: Record<string, unknown>) => [subject, typeof last_login]),
    [['zoe@idp', 'string']],
  );
  const remove = (query: string) => ask('DELETE', `admin/oidc-identities?${query}`);
  assert.equal((await remove('issuer=x')).status, 400);
  assert.deepEqual(told(await remove('issuer=x&subject=y')), [404, 'Identity not found']);
  assert.equal((await remove(`issuer=${encodeURIComponent(provider.issuer)}&subject=zoe%40idp`)).status, 200);
  assert.equal((await whoIs(jwt)).error, 'Not authenticated', 'the login has ended');
  assert.deepEqual((await ask('GET', path)).body, { oidc_identities: [] });
});

test('`headgate user identity` shows who logs in as a user, connects a person, and unlinks one', async () => {
  provider.know({ tess: { name: 'Tess', preferred_username: 'tess', groups: ['staff'] } });
  await logIn('tess');
  const identity = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHeadgate(['user', 'identity', ...args, '--home', daemon.home]);
    return { code, text: `${stderr}${stdout}`.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'T').replaceAll(/ +/g, ' ') };
  };
  assert.deepEqual(await identity('tess'), {
    code: 0,
    text: `tess has no password.\nSUBJECT ISSUER SINCE LAST LOGIN\ntess ${provider.issuer} T T\n`,
  });
  const added = `tess-2 of ${provider.issuer} now logs in as root.\n`;
  assert.deepEqual(await identity('root', 'tess-2'), { code: 0, text: added });
  const removed = `tess-2 of ${provider.issuer} no longer logs in as root; all logins of root have ended.\n`;
  assert.deepEqual(await identity('root', 'tess-2', '--remove'), { code: 0, text: removed });
  const missing = await identity('root', 'tess-2', '--remove');
  assert.deepEqual([missing.code, /No such identity/.test(missing.text)], [1, true]);
});
