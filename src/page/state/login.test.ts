import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogin, findLoginCode, LoginError, toCredential } from './login.ts';

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
  const body = { authenticated: true, auth_enabled: true, scopes: ['read'], user_id: 'u', source: 'cookie' };
  const login = createLogin(async () => Response.json(body));
  assert.deepEqual(await login.status(), { authenticated: true, authEnabled: true, scopes: ['read'] });
});
