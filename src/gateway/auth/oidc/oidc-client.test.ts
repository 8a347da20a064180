import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { createOidcClient } from './oidc-client.ts';
import { fakeProvider, SETTINGS } from './provider-fixture.ts';

const CHECKS = { state: 's', nonce: 'n', verifier: 'v'.repeat(43), isFresh: false };
const ANSWER = new Map([
  ['code', 'c'],
  ['state', 's'],
]);
const HOUR_MS = 3_600_000;

function setUp(timeoutMs?: number) {
  const provider = fakeProvider();
  const clock = fakeClock(systemClock.now());
  const client = createOidcClient({
    ...{ settings: SETTINGS, fetch: provider.fetch, clock },
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return { provider, clock, client };
}

/** Ends with the request, as a connection does to which nobody answers. */
const silence = (signal: AbortSignal | null | undefined) =>
  new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

test('a provider that does not answer in time is unavailable', async () => {
  const { provider, client } = setUp(20);
  provider.answers.set('/.well-known/openid-configuration', silence);
  await assert.rejects(client.authorizationUrl(CHECKS), { name: 'ProviderError', reason: 'provider_unavailable' });
});

test('twenty answers are exchanged at once; the next one is refused, until one has ended', async () => {
  const { provider, client } = setUp();
  await client.authorizationUrl(CHECKS);
  const { promise, resolve } = Promise.withResolvers<Response>();
  provider.answers.set('/token', async () => (await promise).clone());
  const redeem = () => client.redeem(ANSWER, CHECKS).then(String, ({ reason }) => reason);
  const running = Array.from({ length: 20 }, redeem);
  assert.equal(await redeem(), 'busy');
  resolve(Response.json({ error: 'invalid_grant' }, { status: 400 }));
  assert.deepEqual(new Set(await Promise.all(running)), new Set(['provider_refused']));
  assert.equal(await redeem(), 'provider_refused');
});

test('the metadata is read once for many logins, and again after an hour', async () => {
  const { provider, client, clock } = setUp();
  await Promise.all(Array.from({ length: 5 }, () => client.authorizationUrl(CHECKS)));
  assert.equal(provider.requests.length, 1);
  await clock.advance(HOUR_MS);
  await client.authorizationUrl(CHECKS);
  assert.equal(provider.requests.length, 2);
});

test('metadata that leads away from https, or names another issuer, is refused', async () => {
  const unavailable = { name: 'ProviderError', reason: 'provider_unavailable' };
  for (const metadata of [
    { issuer: 'https://evil.example' },
    { authorization_endpoint: 'http://sso.example.com/auth' },
    { authorization_endpoint: 'javascript:alert(1)' },
    { authorization_endpoint: undefined },
    { jwks_uri: undefined },
    { jwks_uri: 'no address' },
  ]) {
    const { provider, client } = setUp();
    provider.metadata = metadata;
    await assert.rejects(client.authorizationUrl(CHECKS), unavailable, JSON.stringify(metadata));
  }
  for (const metadata of [
    { token_endpoint: 'http://sso.example.com/token' },
    { token_endpoint: 'http://127.0.0.1/token' },
    { jwks_uri: 'http://sso.example.com/keys' },
    { userinfo_endpoint: 'http://169.254.169.254/me' },
  ]) {
    const { provider, client } = setUp();
    Object.assign(provider, { metadata, claims: { nonce: CHECKS.nonce } });
    await assert.rejects(client.redeem(ANSWER, CHECKS), unavailable, JSON.stringify(metadata));
  }
});
