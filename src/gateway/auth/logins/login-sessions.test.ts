import assert from 'node:assert/strict';
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { test } from 'node:test';
import { type JWTPayload, SignJWT } from 'jose';
import type { Ids } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { tempStore } from '../../../testing/temp-store.ts';
import { NO_USERS } from '../../testing/no-users.ts';
import { ALL_PERMISSIONS } from '../../users/grant.ts';
import { OPERATOR } from '../lineage.ts';
import { TokenTree } from '../token-tree.ts';
import { openLoginSessions } from './login-sessions.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const START_MS = 1_700_000_000_000;
const SECRET = Buffer.alloc(32, 7);
const importKey = (secret: Buffer) =>
  webcrypto.subtle.importKey('raw', Uint8Array.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);

async function setUp({ most }: { most?: number } = {}) {
  const clock = fakeClock(START_MS);
  const store = await tempStore({ clock });
  const key = await importKey(SECRET);
  let count = 0;
  const ids: Pick<Ids, 'id'> = { id: (prefix) => `${prefix}_${++count}` };
  const open = () =>
    openLoginSessions({
      ...{ store, key, users: NO_USERS, clock, ids, lineage: new TokenTree({ clock, users: NO_USERS }) },
      ...(most !== undefined && { most }),
    });
  return { clock, store, key, open, sessions: await open(), [Symbol.asyncDispose]: () => store.close() };
}

test('a session’s token authenticates its principal, with the scopes it was given', async () => {
  await using world = await setUp();
  const { jwt, expiresAtMs } = await world.sessions.start(OPERATOR);
  const principal = await world.sessions.verify(jwt);
  assert.ok(principal?.source.kind === 'login');
  const { proof, ...source } = principal.source;
  assert.equal(proof.atMs, START_MS);
  assert.deepEqual(
    { ...principal, source, scopes: [...(principal?.scopes ?? [])], ended: principal?.ended.aborted },
    {
      ...{ id: 'operator', scopes: ['read', 'write', 'approve'], ended: false },
      permissions: ALL_PERMISSIONS,
      source: {
        ...{ kind: 'login', jti: 'login_1', parent: OPERATOR.parent, version: 0 },
        ...{ browser: false, expiresAtMs: START_MS + DAY_MS },
      },
    },
  );
  assert.equal(expiresAtMs, START_MS + DAY_MS);
  assert.equal(jwt.split('.').length, 3);
  assert.equal(await world.sessions.verify(jwt), principal);
});

test('the token has the designed claims', async () => {
  await using world = await setUp();
  const { jwt } = await world.sessions.start(OPERATOR);
  const [header, payload] = jwt.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  assert.deepEqual(JSON.parse(header ?? ''), { alg: 'HS256', typ: 'headgate-login+jwt' });
  assert.deepEqual(JSON.parse(payload ?? ''), {
    ...{ iss: 'headgate', aud: 'headgate', sub: 'operator', jti: 'login_1' },
    ver: 0,
    ...{ iat: START_MS / 1000, nbf: START_MS / 1000, exp: (START_MS + DAY_MS) / 1000 },
  });
});

test('a revoked token fails at once, ends open connections, and stays revoked after a restart', async () => {
  await using world = await setUp();
  const kept = await world.sessions.start(OPERATOR);
  const { jwt, principal } = await world.sessions.start(OPERATOR);
  await world.sessions.verify(jwt); // its signature is cached now
  const revoking = world.sessions.revoke('login_2');
  assert.deepEqual([principal.ended.aborted, await world.sessions.verify(jwt)], [true, undefined]);
  await revoking;
  const restarted = await world.open();
  assert.equal(await restarted.verify(jwt), undefined);
  assert.equal((await restarted.verify(kept.jwt))?.id, 'operator');
});

test('revoking an unknown session is not an error', async () => {
  await using world = await setUp();
  await world.sessions.revoke('login_99');
});

test('a token expires, even if it was verified before', async () => {
  await using world = await setUp();
  const { jwt } = await world.sessions.start(OPERATOR);
  world.clock.jump(DAY_MS - 1);
  assert.equal((await world.sessions.verify(jwt))?.id, 'operator');
  world.clock.jump(1);
  assert.equal(await world.sessions.verify(jwt), undefined);
  assert.equal(await (await world.open()).verify(jwt), undefined);
  assert.deepEqual(await world.store.db.selectFrom('login_sessions').selectAll().execute(), []);
});

test('open connections of a session end when it expires', async () => {
  await using world = await setUp();
  const stop = new AbortController();
  const running = world.sessions.run(stop.signal);
  const { principal } = await world.sessions.start(OPERATOR);
  await world.clock.advance(DAY_MS - 1);
  assert.equal(principal.ended.aborted, false);
  await world.clock.advance(1);
  assert.equal(principal.ended.aborted, true);
  stop.abort();
  await running;
});

test('open connections of a session end within a minute after a clock jump expires it', async () => {
  await using world = await setUp();
  const stop = new AbortController();
  const running = world.sessions.run(stop.signal);
  const { principal } = await world.sessions.start(OPERATOR);
  world.clock.jump(2 * DAY_MS);
  await world.clock.advance(60_000);
  assert.equal(principal.ended.aborted, true);
  stop.abort();
  await running;
});

test('a forged token authenticates nobody', async (t) => {
  await using world = await setUp();
  const genuine = await world.sessions.start(OPERATOR);
  const claims: JWTPayload = {
    ...{ iss: 'headgate', aud: 'headgate', sub: 'operator', jti: 'login_1' },
    ver: 0,
    ...{ iat: START_MS / 1000, nbf: START_MS / 1000, exp: (START_MS + DAY_MS) / 1000 },
  };
  const header = { alg: 'HS256', typ: 'headgate-login+jwt' };
  const sign = async (changes: JWTPayload, head: object = {}, key: webcrypto.CryptoKey = world.key) =>
    new SignJWT({ ...claims, ...changes }).setProtectedHeader({ ...header, ...head }).sign(key);
  const without = async (claim: string) => {
    const { [claim]: _left, ...rest } = claims;
    return new SignJWT(rest).setProtectedHeader(header).sign(world.key);
  };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [head = '', body = '', signature = ''] = genuine.jwt.split('.');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const rs256 = (await new SignJWT(claims).setProtectedHeader({ ...header, alg: 'RS256' }).sign(rsa)).split('.');

  assert.equal((await world.sessions.verify(await sign({})))?.id, 'operator', 'the recipe itself is right');
  const nowSecs = START_MS / 1000;
  const forgeries: Record<string, string> = {
    'alg none': `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`,
    'alg none with a signature': `${encode({ ...header, alg: 'none' })}.${encode(claims)}.${signature}`,
    'alg None': `${encode({ ...header, alg: 'None' })}.${encode(claims)}.`,
    'no signature': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'four parts': `${genuine.jwt}.${signature}`,
    'another payload': `${head}.${encode({ ...claims, sub: 'root' })}.${signature}`,
    'another key': await sign({}, {}, await importKey(Buffer.alloc(32, 8))),
    'an empty key': await sign({}, {}, await importKey(Buffer.alloc(1))),
    HS512: await sign({}, { alg: 'HS512' }).catch(() => `${encode({ ...header, alg: 'HS512' })}.${body}.${signature}`),
    RS256: rs256.join('.'),
    'RS256 that says HS256': [head, body, rs256[2]].join('.'),
    'a key named in the header': await sign(
      {},
      { jwk: { kty: 'oct', k: 'AAAA' }, kid: '../../dev/null' },
      await importKey(Buffer.alloc(32)),
    ),
    'a critical extension': `${encode({ ...header, crit: ['x'], x: 1 })}.${body}.${signature}`,
    'another issuer': await sign({ iss: 'other' }),
    'another audience': await sign({ aud: 'other' }),
    'another type': await sign({}, { typ: 'JWT' }),
    'an unknown session': await sign({ jti: 'login_99' }),
    'a prototype key as session': await sign({ jti: '__proto__' }),
    expired: await sign({ exp: nowSecs }),
    'not yet valid': await sign({ nbf: nowSecs + 60 }),
    'an expiry that is not a number': await sign({ exp: 'never' as unknown as number }),
    'a session that is not a string': await sign({ jti: ['login_1'] as unknown as string }),
    'not JSON': `${Buffer.from('{').toString('base64url')}.${body}.${signature}`,
    'line breaks': genuine.jwt.replaceAll('.', '.\n'),
    padding: `${genuine.jwt}==`,
  };
  for (const claim of ['iss', 'aud', 'sub', 'jti', 'iat', 'nbf', 'exp'])
    forgeries[`no ${claim}`] = await without(claim);
  for (const [name, forgery] of Object.entries(forgeries)) {
    await t.test(name, async () => assert.equal(await world.sessions.verify(forgery), undefined));
  }
});

test('beyond the limit the oldest session ends', async () => {
  await using world = await setUp({ most: 20 });
  const first = await world.sessions.start(OPERATOR);
  await Promise.all(Array.from({ length: 19 }, () => world.sessions.start(OPERATOR)));
  assert.equal(first.principal.ended.aborted, false);
  await world.sessions.start(OPERATOR);
  assert.deepEqual([first.principal.ended.aborted, await world.sessions.verify(first.jwt)], [true, undefined]);
});
