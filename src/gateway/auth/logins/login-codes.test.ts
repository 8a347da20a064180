import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { tempStore } from '../../../testing/temp-store.ts';
import { NO_USERS } from '../../testing/no-users.ts';
import { OPERATOR } from '../lineage.ts';
import { TokenTree } from '../token-tree.ts';
import { createLoginCodes } from './login-codes.ts';

/** The operator is no user. */
const REDEEMED = { ...OPERATOR, version: undefined };

async function setUp() {
  const clock = fakeClock(1_000);
  const store = await tempStore({ clock });
  const lineage = new TokenTree({ clock, users: NO_USERS });
  const codes = createLoginCodes({ store, clock, ids: randomIds, lineage, users: NO_USERS });
  return { clock, store, lineage, codes, [Symbol.asyncDispose]: () => store.close() };
}

test('a code works once', async () => {
  await using world = await setUp();
  const { code, expiresAtMs } = await world.codes.issue(OPERATOR);
  assert.match(code, /^[0-9a-f]{32}$/);
  assert.equal(expiresAtMs, 1_000 + 600_000);
  assert.deepEqual([await world.codes.redeem(code), await world.codes.redeem(code)], [REDEEMED, undefined]);
});

test('if many callers redeem a code at once, one succeeds', async () => {
  await using world = await setUp();
  const { code } = await world.codes.issue(OPERATOR);
  const answers = await Promise.all(Array.from({ length: 20 }, () => world.codes.redeem(code)));
  assert.deepEqual(
    answers.filter((answer) => answer !== undefined),
    [REDEEMED],
  );
});

test('a code is valid for ten minutes', async () => {
  await using world = await setUp();
  const { code } = await world.codes.issue(OPERATOR);
  const { code: late } = await world.codes.issue(OPERATOR);
  world.clock.jump(599_999);
  assert.deepEqual(await world.codes.redeem(code), REDEEMED);
  world.clock.jump(1);
  assert.equal(await world.codes.redeem(late), undefined);
});

test('codes survive a restart, and are not stored in plain text', async () => {
  await using world = await setUp();
  const { code } = await world.codes.issue(OPERATOR);
  const rows = await world.store.db.selectFrom('login_codes').selectAll().execute();
  assert.equal(rows.length, 1);
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(code));
  assert.deepEqual(await createLoginCodes({ ...world, ids: randomIds, users: NO_USERS }).redeem(code), REDEEMED);
});

test('an invalid code is refused', async () => {
  await using world = await setUp();
  await world.codes.issue(OPERATOR);
  for (const code of ['', '0', '__proto__', "' or 1=1 --", 'f'.repeat(32)]) {
    assert.equal(await world.codes.redeem(code), undefined);
  }
});

test('expired codes are removed', async () => {
  await using world = await setUp();
  await world.codes.issue(OPERATOR);
  world.clock.jump(600_000);
  await world.codes.issue(OPERATOR);
  assert.equal((await world.store.db.selectFrom('login_codes').selectAll().execute()).length, 1);
});
