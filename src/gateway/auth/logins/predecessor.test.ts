import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STEP_UP_MS } from '../../../../protocol/methods/accounts/step-up.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { tempStore } from '../../../testing/temp-store.ts';
import { build, statementOf } from '../../store/statements.ts';
import { NO_USERS } from '../../testing/no-users.ts';
import { testKey } from '../../testing/test-accounts.ts';
import { type Minter, OPERATOR } from '../lineage.ts';
import { TokenTree } from '../token-tree.ts';
import { type LoginSession, openLoginSessions } from './login-sessions.ts';

const HOUR_MS = 3_600_000;

async function setUp() {
  const clock = fakeClock(1_700_000_000_000);
  const store = await tempStore({ clock });
  const key = await testKey();
  let count = 0;
  const ids = { id: (prefix: string) => `${prefix}_${++count}` };
  const lineage = new TokenTree({ clock, users: NO_USERS });
  const open = () => openLoginSessions({ store, key, users: NO_USERS, clock, ids, lineage });
  return { clock, store, open, sessions: await open(), [Symbol.asyncDispose]: () => store.close() };
}

function sourceOf({ principal: { source } }: LoginSession) {
  assert.ok(source.kind === 'login');
  return source;
}

test('a logout ends all sessions that the browser had one after the other, and their notifications, but no others', async () => {
  await using world = await setUp();
  const { sessions, store, clock } = world;
  const first = await sessions.start(OPERATOR);
  const other = await sessions.start(OPERATOR);
  clock.jump(13 * HOUR_MS);
  const second = await sessions.start(OPERATOR, { follows: { jti: sourceOf(first).jti, isRefresh: true } });
  clock.jump(12 * HOUR_MS); // the first one has expired
  const third = await sessions.start(OPERATOR, { follows: { jti: sourceOf(second).jti } });
  for (const [index, login] of [first, second, third, other].map((each) => sourceOf(each).jti).entries()) {
    const parent = { parent_kind: 'operator', parent_id: 'operator', principal_id: 'operator', version: 0 } as const;
    const target = {
      endpoint: `https://push.example/${index}`,
      p256dh: 'p',
      auth: 'a',
      label: '',
      content: 'full',
    } as const;
    const times = { created_ms: 1, last_sent_ms: null, problem: null };
    const row = { ...parent, ...target, ...times, subscription_id: `push_${index}`, login };
    await store.commit({ statements: [statementOf(build.insertInto('push_subscriptions').values(row))] });
  }
  await sessions.revoke(sourceOf(third).jti);
  for (const session of [second, third]) assert.equal(session.principal.ended.aborted, true);
  for (const now of [sessions, await world.open()])
    assert.deepEqual([await now.verify(second.jwt), await now.verify(third.jwt)], [undefined, undefined]);
  const left = await store.db.selectFrom('push_subscriptions').select('login').execute();
  assert.deepEqual(left, [{ login: sourceOf(other).jti }]);
});

test('a new proof counts in all of them, also after a restart, and a refresh is none', async () => {
  await using world = await setUp();
  const { sessions, clock } = world;
  const first = await sessions.start(OPERATOR);
  clock.jump(STEP_UP_MS);
  const second = await sessions.start(OPERATOR, { follows: { jti: sourceOf(first).jti, isRefresh: true } });
  const areFresh = () => [first, second].map((each) => sourceOf(each).proof.isFresh);
  assert.deepEqual(areFresh(), [false, false]);
  await sessions.confirm(sourceOf(second).jti);
  assert.deepEqual(areFresh(), [true, true]);
  const restarted = await world.open();
  assert.equal(restarted.proofOf(sourceOf(first).jti)?.isFresh, true);
  clock.jump(STEP_UP_MS);
  assert.deepEqual(areFresh(), [false, false]);
  await sessions.start(OPERATOR, { follows: { jti: sourceOf(first).jti } }); // another login
  assert.deepEqual(areFresh(), [true, true]);
});

test('with a clock that was set back, neither a refresh nor a restart makes a proof fresh', async () => {
  await using world = await setUp();
  const { sessions, clock } = world;
  let last = await sessions.start(OPERATOR);
  await clock.advance(STEP_UP_MS);
  clock.jump(-HOUR_MS);
  for (let refreshes = 0; refreshes < 3; refreshes += 1) {
    last = await sessions.start(OPERATOR, { follows: { jti: sourceOf(last).jti, isRefresh: true } });
    assert.equal(sourceOf(last).proof.isFresh, false);
  }
  assert.equal((await world.open()).proofOf(sourceOf(last).jti)?.isFresh, false);
});

test('a session that has ended is not refreshed, and another login after it begins anew', async () => {
  await using world = await setUp();
  const { sessions } = world;
  const { jti } = sourceOf(await sessions.start(OPERATOR));
  const refreshing = sessions.start(OPERATOR, { follows: { jti, isRefresh: true } });
  await Promise.all([assert.rejects(refreshing, { code: 'UNAUTHORIZED' }), sessions.revoke(jti)]);
  await assert.rejects(sessions.start(OPERATOR, { follows: { jti, isRefresh: true } }), { code: 'UNAUTHORIZED' });
  const next = await sessions.start(OPERATOR, { follows: { jti } });
  assert.doesNotMatch(sourceOf(next).jti, /\./);
  const reader: Minter = { ...OPERATOR, parent: { kind: 'token', id: 'nobody' } };
  await assert.rejects(sessions.start(reader, { follows: { jti: sourceOf(next).jti } }), { code: 'UNAUTHORIZED' });
});
