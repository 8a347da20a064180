import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { NO_USERS } from '../testing/no-users.ts';
import { type NewApiToken, openApiTokens } from './api-tokens.ts';
import { OPERATOR } from './lineage.ts';

const START_MS = 1_700_000_000_000;
const HOUR_MS = 3_600_000;

async function setUp() {
  const clock = fakeClock(START_MS);
  const store = await tempStore({ clock });
  let count = 0;
  const ids = { id: (prefix: string) => `${prefix}_${++count}`, secret: () => String(++count).padStart(64, '0') };
  const open = (at: Parameters<typeof openApiTokens>[0]['store'] = store) =>
    openApiTokens({ store: at, users: NO_USERS, clock, ids, log: recordingLog() });
  const tokens = await open();
  const create = (asked: Partial<NewApiToken> = {}) =>
    tokens.create({ name: 'backup', scope: 'write', createdBy: 'operator', minter: OPERATOR, ...asked });
  return { clock, store, open, tokens, create, [Symbol.asyncDispose]: () => store.close() };
}

test('a token is a principal with its scope, and only its digest is stored', async () => {
  await using world = await setUp();
  const { token, ...made } = await world.create();
  const principal = world.tokens.find(token);
  assert.match(token, /^svc_[0-9a-f]{64}$/);
  assert.deepEqual(
    [principal?.id, [...(principal?.scopes ?? [])], world.tokens.list()],
    [`token:${made.tokenId}`, ['read', 'write'], [{ ...made, lastUsedAtMs: START_MS }]],
  );
  const rows = await world.store.db.selectFrom('api_tokens').selectAll().execute();
  assert.equal(JSON.stringify(rows).includes(token.slice(4)), false);
  assert.equal(world.tokens.find(`svc_${'f'.repeat(64)}`), undefined);
});

test('tokens survive a restart, revoked ones do not', async () => {
  await using world = await setUp();
  const kept = await world.create({ name: 'kept' });
  const gone = await world.create({ name: 'gone' });
  const principal = world.tokens.find(gone.token);
  const revoking = world.tokens.revoke([gone.tokenId]);
  assert.deepEqual([principal?.ended.aborted, world.tokens.find(gone.token)], [true, undefined]);
  await revoking;
  assert.deepEqual(world.tokens.below(gone.tokenId), []);
  const after = await world.open();
  assert.deepEqual([after.find(kept.token)?.id, after.find(gone.token)], [`token:${kept.tokenId}`, undefined]);
  assert.deepEqual(
    after.list().map(({ name }) => name),
    ['kept'],
  );
});

test('a token whose user is gone is revoked at the start of the active daemon; a worker only leaves it out', async () => {
  await using world = await setUp();
  const { store } = world;
  const { token } = await world.create();
  await store.commit({
    statements: [store.db.updateTable('api_tokens').set({ parent_kind: 'user', parent_id: 'gone' }).compile()],
    durable: true,
  });
  const revoked = async () => {
    const row = await store.db.selectFrom('api_tokens').select('revoked_ms').executeTakeFirstOrThrow();
    return row.revoked_ms !== null;
  };
  const atWorker = await world.open({ db: store.db, commit: (unit) => store.commit(unit), machine: 'w' });
  assert.deepEqual([atWorker.find(token), await revoked()], [undefined, false]);
  const atLead = await world.open();
  assert.deepEqual([atLead.find(token), await revoked()], [undefined, true]);
});

test('an expired token ends its open connections, and stays in the list', async () => {
  await using world = await setUp();
  const { token } = await world.create({ expiresInMs: HOUR_MS });
  const principal = world.tokens.find(token);
  const stop = new AbortController();
  const running = world.tokens.run(stop.signal);
  await world.clock.advance(HOUR_MS - 1);
  assert.deepEqual([principal?.ended.aborted, world.tokens.find(token)], [false, principal]);
  await world.clock.advance(1);
  assert.deepEqual([principal?.ended.aborted, world.tokens.find(token)], [true, undefined]);
  assert.equal(world.tokens.list()[0]?.expiresAtMs, START_MS + HOUR_MS);
  stop.abort();
  await running;
});

test('names are unique, and the number of tokens is limited', async () => {
  await using world = await setUp();
  const [one] = await Promise.allSettled([world.create(), world.create()]);
  assert.equal(one?.status, 'fulfilled');
  await assert.rejects(world.create(), { code: 'CONFLICT', message: 'A token named "backup" already exists' });
  for (let n = 1; n < LIMITS.apiTokens; n++) await world.create({ name: `t${n}` });
  await assert.rejects(world.create({ name: 'one more' }), {
    code: 'CONFLICT',
    message: /Token limit \(1000\) reached/,
  });
});

test('the last use is stored once a minute, and survives a restart', async () => {
  await using world = await setUp();
  const { token } = await world.create();
  world.tokens.find(token);
  await world.clock.advance(59_999);
  world.tokens.find(token);
  assert.equal(world.tokens.list()[0]?.lastUsedAtMs, START_MS);
  await world.clock.advance(1);
  world.tokens.find(token);
  await world.create({ name: 'another' }); // in the same commit
  assert.equal((await world.open()).list()[0]?.lastUsedAtMs, START_MS + 60_000);
});
