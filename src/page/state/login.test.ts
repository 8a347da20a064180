import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OIDC_REFUSALS } from '../../../protocol/methods/accounts/oidc.ts';
import { createLogin, findLoginCode, findProviderProblem, LoginError, toCredential } from './login.ts';

test('a pasted link gives its code, anything else is a token', () => {
  assert.deepEqual(
    ['http://127.0.0.1:7717/#login=aB3_-x', ' #login=abc \n', 'login=abc', 'svc_12', '  '].map(toCredential),
    [{ code: 'aB3_-x' }, { code: 'abc' }, { code: 'abc' }, { token: 'svc_12' }, undefined],
  );
});

test('a fragment that is not a login link has no code', () => {
  assert.deepEqual(['', '#', '#login=', '#ws=1'].map(findLoginCode), [undefined, undefined, undefined, undefined]);
});

test('a login posts JSON to the page’s own host', async () => {
  const requests: unknown[] = [];
  const login = createLogin(async (url, init) => {
    requests.push({ url, ...init });
    return new Response('{}');
  });
  await login.login({ code: 'abc' });
  assert.deepEqual(requests, [
    {
      url: '/v1/api/auth/login',
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      credentials: 'same-origin',
      body: '{"code":"abc"}',
    },
  ]);
});

test('a refused login shows what to do', async () => {
  const refusal = (status: number) => createLogin(async () => new Response('{}', { status })).login({ code: 'old' });
  await assert.rejects(refusal(401), new LoginError('This link has been used or has expired. Get a new one.'));
  await assert.rejects(
    refusal(429),
    new LoginError('Too many attempts. Try again in five minutes. Repeated failures make the wait longer.'),
  );
});

test('the status is read from the names of the HTTP interface', async () => {
  const about = { has_users: true, setup_required: true, setup_code_required: true, password_enabled: true };
  const body = { authenticated: true, auth_enabled: true, ...about, scopes: ['read'], user_id: 'u', source: 'cookie' };
  const login = createLogin(async () => Response.json(body));
  assert.deepEqual(await login.status(), {
    authenticated: true,
    authEnabled: true,
    scopes: ['read'],
    userId: 'u',
    hasUsers: true,
    setupRequired: true,
    setupCodeNeeded: true,
    passwordEnabled: true,
    provider: undefined,
  });
});

test('the first user and a new password are posted with the names of the HTTP interface', async () => {
  const requests: unknown[] = [];
  const login = createLogin(async (url, init) => {
    requests.push([url, JSON.parse(String(init?.body))]);
    return new Response('{}');
  });
  const first = { username: 'ada', displayName: 'Ada', password: 'correct horse' };
  await login.setUp({ ...first, setupCode: undefined });
  await login.setUp({ ...first, setupCode: 'c0de' });
  await login.changePassword({ current: 'old', next: 'new' });
  const posted = { username: 'ada', display_name: 'Ada', password: 'correct horse' };
  assert.deepEqual(requests, [
    ['/v1/api/auth/setup', posted],
    ['/v1/api/auth/setup', { ...posted, setup_code: 'c0de' }],
    ['/v1/api/auth/password', { current_password: 'old', new_password: 'new' }],
  ]);
});

test('a refusal says what is wrong: the credential, the wait, or in the words of the daemon', async () => {
  const login = (answer: Response) => createLogin(async () => answer);
  const password = { username: 'ada', password: 'wrong' };
  const wrong = () => new Response('{"error":"Invalid credentials"}', { status: 401 });
  await assert.rejects(login(wrong()).login(password), new LoginError('The username or the password is wrong.'));
  await assert.rejects(login(wrong()).login({ token: 't' }), new LoginError('This token is not valid.'));
  const busy = new Response('{}', { status: 429, headers: { 'Retry-After': '40' } });
  await assert.rejects(login(busy).login(password), /^LoginError: Too many attempts\. Try again in 40 seconds\./);
  const short = Response.json({ error: 'Password must be at least 8 characters' }, { status: 400 });
  const change = { current: 'old', next: 'new' };
  await assert.rejects(login(short).changePassword(change), new LoginError('Password must be at least 8 characters'));
  const broken = new Response('<html>', { status: 502 });
  await assert.rejects(login(broken).changePassword(change), new LoginError('Headgate answered 502.'));
  await assert.rejects(login(new Response('<html>', { status: 502 })).logout(), /^LoginError: Headgate answered 502\./);
  const taken = new Response('{}', { status: 409 });
  const first = { username: 'ada', displayName: 'Ada', password: 'correct horse', setupCode: undefined };
  await assert.rejects(login(taken).setUp(first), /^LoginError: The first user exists already\./);
});

test('the provider of the status is used only with an http address', async () => {
  const providerOf = async (url: unknown) => {
    const body = { oidc_enabled: true, oidc_provider_name: 'Lab', oidc_login_url: url, password_enabled: false };
    const { provider, passwordEnabled } = await createLogin(async () => Response.json(body)).status();
    return [provider, passwordEnabled];
  };
  const url = 'https://chat.example.com/v1/api/auth/oidc/authorize';
  assert.deepEqual(await providerOf(url), [{ name: 'Lab', url }, false]);
  assert.deepEqual(await providerOf('javascript:alert(1)'), [undefined, false]);
  assert.deepEqual(await providerOf(null), [undefined, false]);
});

test('every reason of a failed login through the provider has words; the address itself is never shown', () => {
  const words = OIDC_REFUSALS.map((reason) => findProviderProblem(`?oidc_error=${reason}`));
  assert.equal(new Set(words).size, OIDC_REFUSALS.length);
  for (const reason of ['<b>x</b>', 'constructor', '__proto__', ''])
    assert.equal(
      findProviderProblem(`?oidc_error=${encodeURIComponent(reason)}`),
      'The login through the provider failed. Try again.',
    );
  assert.equal(findProviderProblem('?oidc_success=1'), 'The browser did not keep the login cookie.');
  assert.equal(findProviderProblem('?x=1'), undefined);
});
