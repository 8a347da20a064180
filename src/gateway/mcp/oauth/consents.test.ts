import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { build, statementOf } from '../../store/statements.ts';
import { turnsUntil } from '../../testing/whole-gateway.ts';
import { ISSUER, setUp } from './consents-fixture.ts';

const codeOf = (problem: { consent: { code: string } } | undefined) => problem?.consent.code;

test('a token is renewed shortly before it expires, once for all who ask', async (t) => {
  const { consents, notes, server, clock, connect } = await setUp(t);
  await connect('');
  clock.jump(3_569_000);
  assert.equal(await consents.token(server, ''), 'access-token-1');
  clock.jump(2_000);
  const all = await Promise.all(Array.from({ length: 20 }, () => consents.token(server, '')));
  assert.deepEqual([new Set(all), notes.tokens], [new Set(['access-token-2']), 2]);
});

test('a provider that does not answer is waited for once by all who ask', async (t) => {
  const { consents, notes, server, clock, connect } = await setUp(t);
  await connect('');
  clock.jump(3_601_000);
  const asked = Promise.withResolvers<void>();
  const hangs = Promise.withResolvers<void>();
  notes.beforeToken = () => {
    asked.resolve();
    return hangs.promise;
  };
  const all = Array.from({ length: 20 }, () => consents.token(server, ''));
  await asked.promise;
  hangs.reject(new Error('no answer'));
  const codes = (await Promise.allSettled(all)).map((one) => one.status === 'rejected' && one.reason.consent.code);
  const tokens = notes.asked.filter((path) => path === '/token').length;
  assert.deepEqual([[...new Set(codes)], tokens], [['mcp_refresh_unavailable'], 2]); // one of them connected the account
  notes.beforeToken = async () => undefined;
  assert.equal(await consents.token(server, ''), 'access-token-2');
});

test('without a refresh token, an account ends with its token', async (t) => {
  const { consents, notes, server, clock, connect } = await setUp(t);
  notes.refreshes = false;
  await connect('');
  clock.jump(3_599_000);
  assert.equal(await consents.token(server, ''), 'access-token-1');
  clock.jump(2_000);
  await assert.rejects(consents.token(server, ''), { name: 'ConsentProblem' });
  assert.equal(codeOf(await consents.missing(server, '')), 'mcp_consent_required');
});

test('an account whose token is said to live for ever can be listed and removed', async (t) => {
  const { consents, notes, connect } = await setUp(t);
  notes.expiresIn = 1e15;
  await connect('');
  assert.deepEqual(
    (await consents.list('')).map(({ expiresAtMs }) => expiresAtMs),
    [1_000_000 + 10 * 365 * 86_400_000],
  );
  assert.equal(await consents.remove('', 'notes', []), true);
});

test('a token that no header can carry connects no account', async (t) => {
  const { consents, notes, connect } = await setUp(t);
  for (const ending of ['\nsecond line', ' ', '…', 'x'.repeat(32_768)]) {
    notes.ending = ending;
    await assert.rejects(connect(''), { message: /its provider gives a token that cannot be sent$/ });
  }
  assert.deepEqual(await consents.list(''), []);
});

test('accounts survive a rotation of the keys, and one that cannot be decrypted is named', async (t) => {
  const { consents, server, connect, vault, store } = await setUp(t);
  await connect('ada');
  const sealedNow = () => store.db.selectFrom('mcp_consents').select('sealed').executeTakeFirstOrThrow();
  const before = await sealedNow();
  await vault.rotate({});
  assert.notEqual((await sealedNow()).sealed, before.sealed);
  assert.equal(await consents.token(server, 'ada'), 'access-token-1');
  const spoil = build.updateTable('mcp_consents').set({ sealed: before.sealed });
  await store.commit({ statements: [statementOf(spoil, 1)] });
  assert.equal(codeOf(await consents.missing(server, 'ada')), 'mcp_token_undecryptable_key_unknown');
  await connect('ada');
  assert.equal(await consents.token(server, 'ada'), 'access-token-2');
});

test('an account counts for one user and one address; others, and a disabled user, have none', async (t) => {
  const { consents, server, connect, disabled, store } = await setUp(t);
  await connect('ada');
  await connect('bob');
  assert.deepEqual(
    [await consents.token(server, 'ada'), await consents.token(server, 'bob')],
    ['access-token-1', 'access-token-2'],
  );
  // A row that was moved to another user cannot be decrypted.
  const { sealed } = await store.db
    .selectFrom('mcp_consents')
    .select('sealed')
    .where('user_id', '=', 'ada')
    .executeTakeFirstOrThrow();
  const moved = build.updateTable('mcp_consents').set({ sealed }).where('user_id', '=', 'bob');
  await store.commit({ statements: [statementOf(moved, 1)] });
  assert.equal(codeOf(await consents.missing(server, 'bob')), 'mcp_token_undecryptable_key_unknown');
  const elsewhere = { ...server, url: 'https://evil.example/mcp' };
  assert.equal(codeOf(await consents.missing(elsewhere, 'ada')), 'mcp_consent_required');
  assert.equal(
    codeOf(await consents.missing({ ...server, url: 'http://notes.example.com/mcp' }, 'ada')),
    'mcp_oauth_url_insecure',
  );
  assert.equal(codeOf(await consents.missing(server, '')), 'mcp_consent_required');
  disabled.add('ada');
  assert.equal(codeOf(await consents.missing(server, 'ada')), 'mcp_account_forbidden');
  await consents.recover();
  assert.deepEqual(await consents.list('ada'), []);
  assert.equal((await consents.list('bob')).length, 1);
});

test('a provider without PKCE, or that is another one than it says, is refused', async (t) => {
  const { consents, notes } = await setUp(t);
  const begin = () => consents.begin('', { server: 'notes', scopes: [] });
  notes.metadata.code_challenge_methods_supported = ['plain'];
  await assert.rejects(begin(), { code: 'UNAVAILABLE', message: /does not support PKCE with S256/ });
  notes.metadata.code_challenge_methods_supported = ['S256'];
  notes.metadata.issuer = 'https://evil.example';
  await assert.rejects(begin(), { code: 'UNAVAILABLE', message: /another one/ });
  notes.metadata.issuer = ISSUER;
  notes.metadata.authorization_endpoint = 'javascript:alert(1)';
  await assert.rejects(begin(), { code: 'UNAVAILABLE' });
  assert.equal(notes.asked.includes('/token'), false);
});

test('A consent must not store an account for a server that was removed, moved or disabled while it was finished', async (t) => {
  const { consents, notes, mcp, store, connect } = await setUp(t);
  const changed = { code: 'UNAUTHORIZED', details: { reason: 'changed' } };
  notes.beforeToken = async () => {
    const { statements, ended } = await consents.ending('notes');
    await store.commit({ statements });
    ended();
  };
  await assert.rejects(connect('ada'), changed);
  const { servers } = mcp;
  notes.beforeToken = async () => {
    mcp.servers = {};
  };
  await assert.rejects(connect('ada'), changed);
  mcp.servers = servers;
  assert.deepEqual([notes.tokens, await consents.list('ada')], [2, []]);
  notes.beforeToken = async () => undefined;
  await connect('ada');
  assert.equal((await consents.list('ada')).length, 1);
});

test('a server that names no provider is its own, by any name at its own origin and by none elsewhere', async (t) => {
  const { consents, notes } = await setUp(t);
  const begin = () => consents.begin('', { server: 'notes', scopes: [] });
  notes.names = false;
  notes.metadata.issuer = 'https://notes.example.com/oauth';
  assert.match((await begin()).url, /^https:\/\/sso\.example\.com\/auth\?/);
  notes.metadata.issuer = ISSUER;
  await assert.rejects(begin(), { message: /another one/ });
  notes.names = true;
  notes.metadata.issuer = `${ISSUER}/tenant`;
  await assert.rejects(begin(), { message: /another one/ });
});

test('a provider that reads documents gets the address of ours; others register a client with a method they know', async (t) => {
  const { consents, notes, mcp } = await setUp(t);
  const clientId = async () => {
    const { url } = await consents.begin('', { server: 'notes', scopes: [] });
    return new URL(url).searchParams.get('client_id');
  };
  mcp.clientMetadataUrl = 'https://chat.example.com/headgate.json';
  notes.metadata.token_endpoint_auth_methods_supported = ['private_key_jwt', 'client_secret_post'];
  assert.equal(await clientId(), 'c');
  assert.equal(notes.registered?.token_endpoint_auth_method, 'client_secret_post');
  notes.metadata.client_id_metadata_document_supported = true;
  assert.equal(await clientId(), 'https://chat.example.com/headgate.json');
  mcp.clientMetadataUrl = undefined;
  assert.equal(await clientId(), 'c');
});

test('tokens that the store does not take are used from memory, and stored by the next call', async (t) => {
  const { consents, notes, server, clock, connect, vault, reopened } = await setUp(t);
  await connect('');
  const failing = t.mock.method(vault, 'commitSealed', () => Promise.reject(new Error('the disk is full')));
  const tokens: string[] = [];
  for (let renewals = 0; renewals < 2; renewals += 1) {
    clock.jump(3_601_000);
    tokens.push(await consents.token(server, ''), await consents.token(server, ''));
  }
  assert.deepEqual(tokens, ['access-token-2', 'access-token-2', 'access-token-3', 'access-token-3']);
  assert.equal(notes.sent.at(-1)?.get('refresh_token'), 'refresh-token-2');
  failing.mock.restore();
  const all = await Promise.all([consents.token(server, ''), consents.token(server, '')]);
  assert.deepEqual(all, ['access-token-3', 'access-token-3']);
  assert.equal(await reopened().token(server, ''), 'access-token-3');
});

test('tokens that are renewed while earlier ones are stored are not lost', async (t) => {
  const { consents, notes, server, clock, connect, vault, reopened } = await setUp(t);
  await connect('');
  const failing = t.mock.method(vault, 'commitSealed', () => Promise.reject(new Error('the disk is full')));
  clock.jump(3_601_000);
  assert.equal(await consents.token(server, ''), 'access-token-2');
  failing.mock.restore();
  const gate = Promise.withResolvers<void>();
  const commit = vault.commitSealed.bind(vault);
  const slow = t.mock.method(vault, 'commitSealed', async (...args: Parameters<typeof commit>) => {
    await gate.promise;
    return commit(...args);
  });
  const asked = consents.token(server, '');
  const sent = notes.sent.length;
  const renewed = consents.renew(server, '', 'access-token-2');
  for (let turns = 0; turns < 50 && notes.sent.length === sent; turns += 1) await setImmediate();
  gate.resolve();
  await Promise.all([asked, renewed]);
  slow.mock.restore();
  assert.equal(await consents.token(server, ''), 'access-token-3');
  assert.equal(await reopened().token(server, ''), 'access-token-3');
});

test('an account that is removed while its tokens wait for the store gives no token', async (t) => {
  const { consents, server, clock, connect, vault } = await setUp(t);
  await connect('');
  const failing = t.mock.method(vault, 'commitSealed', () => Promise.reject(new Error('the disk is full')));
  clock.jump(3_601_000);
  assert.equal(await consents.token(server, ''), 'access-token-2');
  failing.mock.restore();
  await connect('');
  assert.equal(await consents.token(server, ''), 'access-token-3');
  await consents.remove('', 'notes', []);
  assert.equal(codeOf(await consents.missing(server, '')), 'mcp_consent_required');
  await assert.rejects(consents.token(server, ''), /connect an account/);
});

test('asking for a token of an account that is gone does not wait for a consent; a call does', async (t) => {
  const { consents, server, connect } = await setUp(t);
  await connect('ada');
  await consents.remove('ada', 'notes', []);
  await assert.rejects(consents.token(server, 'ada'), { name: 'ConsentProblem' });
  assert.deepEqual(await consents.pending('ada'), []);
  await consents.needs(server, 'ada', { code: 'mcp_consent_required' });
  assert.deepEqual(
    (await consents.pending('ada'))?.map(({ server: name, code }) => [name, code]),
    [['notes', 'mcp_consent_required']],
  );
});

test('tokens that are renewed while their account is disconnected are revoked, as are those that were not stored', async (t) => {
  const { consents, notes, server, clock, connect, vault } = await setUp(t);
  await connect('');
  clock.jump(3_601_000);
  const asked = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  notes.beforeToken = () => {
    asked.resolve();
    return goesOn.promise;
  };
  const token = consents.token(server, '');
  await asked.promise;
  await consents.remove('', 'notes', []);
  goesOn.resolve();
  await assert.rejects(token, { name: 'ConsentProblem' });
  await turnsUntil(() => notes.revoked.length === 2, 'both are revoked');
  assert.deepEqual(notes.revoked.toSorted(), ['refresh-token-1', 'refresh-token-2']);
  await connect('');
  const failing = t.mock.method(vault, 'commitSealed', () => Promise.reject(new Error('the disk is full')));
  clock.jump(3_601_000);
  assert.equal(await consents.token(server, ''), 'access-token-4');
  failing.mock.restore();
  await consents.remove('', 'notes', []);
  await turnsUntil(() => notes.revoked.length === 3, 'the renewed one is revoked');
  assert.equal(notes.revoked.at(-1), 'refresh-token-4');
});

test('rights that several calls lack are asked for together', async (t) => {
  const { consents, server } = await setUp(t);
  for (const scopes of [['read'], ['write', 'read'], []])
    await consents.needs(server, '', { code: 'mcp_insufficient_scope', scopes });
  assert.deepEqual(
    (await consents.pending(''))?.map(({ scopes }) => scopes),
    [['read', 'write']],
  );
  const many = Array.from({ length: 150 }, (_, index) => `scope${index}`);
  await consents.needs(server, '', { code: 'mcp_insufficient_scope', scopes: many });
  assert.deepEqual((await consents.pending(''))?.[0]?.scopes, many.slice(-100));
});
