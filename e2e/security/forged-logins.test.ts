import assert from 'node:assert/strict';
import { createPublicKey, KeyObject } from 'node:crypto';
import { after, test } from 'node:test';

import { base64url, decodeJwt, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import { systemClock } from '../../src/clock.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { startProvider } from '../support/oidc/provider.ts';
import { CLIENT, finish, logInAs, oidcConfig, toCallback } from '../support/oidc/provider-login.ts';
import { WebVisitor } from '../support/oidc/web-visitor.ts';

const provider = await startProvider();
const daemon = await startDaemon({ config: oidcConfig(provider) });
after(async () => {
  await daemon[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
await provider.serve(daemon.url);
provider.know({ ada: { name: 'Ada', preferred_username: 'ada' } });
await daemon.post('/v1/api/auth/setup', { username: 'root', display_name: 'Root', password: 'correct horse' });

const other = await generateKeyPair('RS256', { extractable: true });
const curve = await generateKeyPair('ES256');
const publicPem = createPublicKey(KeyObject.from(provider.key)).export({ type: 'spki', format: 'pem' });
const publicJwk = JSON.stringify(await exportJWK(createPublicKey(KeyObject.from(provider.key))));
const nowSecs = () => Math.floor(systemClock.now() / 1000);

type Claims = Record<string, unknown>;
type Token = (claims: Claims, original: string) => unknown;

const encode = (value: unknown) => base64url.encode(JSON.stringify(value));
const HEADER = { alg: 'RS256', kid: 'first' } as const;
/** Signed as the provider signs, unless the header says otherwise. */
const sign = (claims: Claims, header: JWTHeaderParameters = HEADER, key: CryptoKey | Uint8Array = provider.key) =>
  new SignJWT(claims).setProtectedHeader(header).sign(key);
/** The claims of a good token, with changes; undefined removes one. */
const claiming =
  (changes: Claims): Token =>
  (claims) =>
    sign({ ...claims, ...changes });
const partsOf = (token: string) => token.split('.') as [string, string, string];
const secret = (text: string | Buffer) => new TextEncoder().encode(String(text));

/** A token of an earlier login of the same person, which was valid. */
let earlier = '';

const FORGED: Record<string, Token> = {
  'no signature, alg none': (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`,
  'alg None with the old signature': (claims, token) =>
    `${encode({ alg: 'None' })}.${encode(claims)}.${partsOf(token)[2]}`,
  'HS256 with the client secret': (claims) => sign(claims, { alg: 'HS256' }, secret(CLIENT.secret)),
  'HS256 with the public key (PEM)': (claims) => sign(claims, { alg: 'HS256', kid: 'first' }, secret(publicPem)),
  'HS256 with the public key (JWK)': (claims) => sign(claims, { alg: 'HS256', kid: 'first' }, secret(publicJwk)),
  'without its signature': (_, token) => partsOf(token).slice(0, 2).join('.').concat('.'),
  'the signature of an earlier token': (_, token) => [...partsOf(token).slice(0, 2), partsOf(earlier)[2]].join('.'),
  'one changed bit in the signature': (_, token) => {
    const [header, payload, signature] = partsOf(token);
    const bytes = Buffer.from(signature, 'base64url');
    bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9);
    return [header, payload, bytes.toString('base64url')].join('.');
  },
  'changed claims under the old signature': (claims, token) => {
    const [header, , signature] = partsOf(token);
    return [header, encode({ ...claims, sub: 'root' }), signature].join('.');
  },
  'another alg over the old signature': (_, token) => {
    const [, payload, signature] = partsOf(token);
    return [encode({ alg: 'RS384', kid: 'first' }), payload, signature].join('.');
  },
  'another key with the same id': (claims) => sign(claims, HEADER, other.privateKey),
  'another key with an unknown id': (claims) => sign(claims, { alg: 'RS256', kid: 'second' }, other.privateKey),
  'another key without an id': (claims) => sign(claims, { alg: 'RS256' }, other.privateKey),
  'another key that the header brings': async (claims) =>
    sign(claims, { alg: 'RS256', jwk: await exportJWK(other.publicKey) }, other.privateKey),
  'another key at an address in the header': (claims) =>
    sign(claims, { alg: 'RS256', kid: 'x', jku: `${provider.issuer}/other-keys` }, other.privateKey),
  'a key of another type': (claims) => sign(claims, { alg: 'ES256', kid: 'first' }, curve.privateKey),
  'an unknown critical header': (claims, token) => {
    const [, , signature] = partsOf(token);
    return [encode({ ...HEADER, crit: ['x'], x: 1 }), encode(claims), signature].join('.');
  },
  'another issuer': claiming({ iss: 'https://evil.example' }),
  'the issuer with a slash': claiming({ iss: `${provider.issuer}/` }),
  'a list of issuers': claiming({ iss: [provider.issuer] }),
  'no issuer': claiming({ iss: undefined }),
  'another audience': claiming({ aud: 'another-client' }),
  'no audience': claiming({ aud: undefined }),
  'an empty list of audiences': claiming({ aud: [] }),
  'several audiences and no azp': claiming({ aud: [CLIENT.id, 'another-client'] }),
  'several audiences and the azp of another': claiming({ aud: [CLIENT.id, 'another-client'], azp: 'another-client' }),
  'the azp of another client': claiming({ azp: 'another-client' }),
  'an azp that is no text': claiming({ azp: 7 }),
  'expired an hour ago': claiming({ exp: nowSecs() - 3_600 }),
  'expired two minutes ago': claiming({ exp: nowSecs() - 120 }),
  'no expiry': claiming({ exp: undefined }),
  'an expiry that is a text': claiming({ exp: '9999999999' }),
  'issued in an hour': claiming({ iat: nowSecs() + 3_600, exp: nowSecs() + 7_200 }),
  'issued yesterday': claiming({ iat: nowSecs() - 86_400 }),
  'no time of issue': claiming({ iat: undefined }),
  'a time of issue that is a text': claiming({ iat: 'now' }),
  'not valid yet': claiming({ nbf: nowSecs() + 3_600 }),
  'no nonce': claiming({ nonce: undefined }),
  'another nonce': claiming({ nonce: 'A'.repeat(43) }),
  'a nonce in capitals': (claims) => sign({ ...claims, nonce: String(claims.nonce).toUpperCase() }),
  'a whole token of an earlier login': () => earlier,
  'no subject': claiming({ sub: undefined }),
  'an empty subject': claiming({ sub: '' }),
  'a subject that is a number': claiming({ sub: 1 }),
  'another subject than the user info has': claiming({ sub: 'grace' }),
  'a subject of 300 characters': claiming({ sub: 's'.repeat(300) }),
  'no JWT': () => 'hello',
  'an empty text': () => '',
  'a number': () => 42,
  'no token at all': () => undefined,
  'two parts': (_, token) => partsOf(token).slice(0, 2).join('.'),
  'five parts': (_, token) => `${token}.a.b`,
  'a payload that is a list': (_, token) => [partsOf(token)[0], encode([1]), partsOf(token)[2]].join('.'),
};

const ada = new WebVisitor({ address: '10.1.0.0' });
const usersOf = async () => (await daemon.get('/v1/api/admin/users')).body.total;

/** Logs Ada in with another ID token than the provider's. */
async function logInWith(token: Token, n: number) {
  ada.forget(daemon.url);
  ada.address = `10.2.0.${n}`;
  const callback = await toCallback('ada', daemon, ada);
  provider.tamper = async ({ path, body }) => {
    if (path === '/token') body.id_token = await token(decodeJwt(body.id_token), body.id_token);
  };
  const ended = await finish(callback, daemon, ada);
  provider.tamper = undefined;
  return ended;
}

test('Every forged or stale ID token must be refused, and must leave neither a session nor a user', async () => {
  provider.tamper = ({ path, body }) => {
    if (path === '/token') earlier = body.id_token;
  };
  assert.equal((await logInAs('ada', daemon, ada)).end, 'oidc_success=1');
  const before = await usersOf();
  // The test can forge: the same claims, signed again, are accepted.
  assert.equal((await logInWith(claiming({}), 200)).end, 'oidc_success=1');
  const accepted: string[] = [];
  for (const [n, [name, token]] of Object.entries(FORGED).entries()) {
    const { end, jwt } = await logInWith(token, n);
    if (end !== 'oidc_error=invalid_token' || jwt !== undefined) accepted.push(`${name}: ${end}`);
  }
  assert.deepEqual(accepted, []);
  assert.ok(Object.keys(FORGED).length >= 40);
  assert.equal(await usersOf(), before);
  const { stderr } = daemon.output();
  assert.equal(stderr.includes(CLIENT.secret) || stderr.includes(partsOf(earlier)[2]), false, 'secrets in the log');
});

test('A new key of the provider must be found at its first use', async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'third', use: 'sig' };
  ada.forget(daemon.url);
  ada.address = '10.3.0.1';
  const callback = await toCallback('ada', daemon, ada);
  provider.tamper = async ({ path, body }) => {
    if (path === '/jwks') body.keys = [jwk];
    if (path === '/token')
      body.id_token = await sign(decodeJwt(body.id_token), { alg: 'RS256', kid: 'third' }, privateKey);
  };
  assert.equal((await finish(callback, daemon, ada)).end, 'oidc_success=1');
  provider.tamper = undefined;
});
