import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EgressError } from '../../../egress/guarded-egress.ts';
import { createOAuthFetch, RefusedAddress } from './oauth-fetch.ts';

const { signal } = new AbortController();

/** Which of the addresses are asked when a server with this address names them. */
async function asked(serverUrl: string, addresses: readonly string[], privateHosts: readonly string[] = []) {
  const reached: string[] = [];
  const fetch = async (address: string | URL | Request) => {
    reached.push(String(address));
    return new Response('{}');
  };
  const guarded = createOAuthFetch({ fetch, serverUrl, privateHosts, signal });
  for (const address of addresses)
    await guarded(address).catch((error: unknown) => assert.ok(error instanceof RefusedAddress, String(error)));
  return reached;
}

const INSIDE = [
  'https://127.0.0.1/x',
  'https://[::1]/x',
  'https://10.0.0.7/x',
  'https://192.168.1.1/x',
  'https://169.254.169.254/latest/meta-data',
  'https://[::ffff:10.0.0.7]/x',
  'https://[fd00::1]/x',
  'https://2130706433/x',
  'https://0x7f.1/x',
  'https://localhost/x',
  'https://nas.local/x',
  'https://metadata.google.internal/x',
];

test('a server elsewhere cannot make the daemon ask addresses of the private network, in any spelling', async () => {
  assert.deepEqual(await asked('https://tools.example.com/mcp', INSIDE), []);
});

test('only https is asked, and nothing with a user in it', async () => {
  const odd = [
    'http://sso.example.com/x',
    'ftp://sso.example.com/x',
    'file:///etc/passwd',
    'https://a:b@sso.example.com/x',
  ];
  assert.deepEqual(await asked('https://tools.example.com/mcp', odd), []);
  assert.deepEqual(await asked('http://127.0.0.1:3000/mcp', ['http://sso.example.com/x', 'http://10.0.0.7/x']), []);
});

test('a server inside may name its own host, and what the configuration allows', async () => {
  const [own, listed, other] = ['https://mcp.corp/x', 'https://sso.corp/x', 'https://ldap.corp/x'];
  assert.deepEqual(await asked('https://mcp.corp/mcp', [own, listed, other], ['SSO.corp']), [own, listed]);
  const local = ['http://localhost:4000/x', 'http://127.0.0.1:4000/x'];
  assert.deepEqual(await asked('http://127.0.0.1:3000/mcp', local), local);
  assert.deepEqual(await asked('https://tools.example.com/mcp', ['https://sso.example.com/x']), [
    'https://sso.example.com/x',
  ]);
});

test('an answer that is too long, and a refusal of the guard, are refused; other failures stay what they are', async () => {
  const open = (fetch: typeof globalThis.fetch) =>
    createOAuthFetch({ fetch, serverUrl: 'https://tools.example.com/mcp', privateHosts: [], signal })(
      'https://sso.example.com/',
    );
  await assert.rejects(
    open(async () => new Response('x'.repeat(600 * 1024))),
    RefusedAddress,
  );
  const refusal = new EgressError('address', 'sso.example.com resolves to the private address 10.0.0.7.');
  const failing = (cause: unknown) => async () => {
    throw new TypeError('fetch failed', { cause });
  };
  await assert.rejects(open(failing(refusal)), { name: 'RefusedAddress', message: /10\.0\.0\.7/ });
  await assert.rejects(open(failing(new Error('reset'))), { name: 'TypeError' });
});
