import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import { NO_USERS } from '../testing/no-users.ts';
import { openTestVault } from '../testing/test-vault.ts';
import { OPERATOR } from './lineage.ts';
import { createLoginCodes } from './logins/login-codes.ts';
import { openLoginSessions } from './logins/login-sessions.ts';
import { openSecrets } from './secrets.ts';
import { TokenTree } from './token-tree.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const JUMPS = { 'back 400 days': -400 * DAY_MS, 'back 1 hour': -HOUR_MS };
const AHEAD = { 'on 1 hour': HOUR_MS, 'on 400 days': 400 * DAY_MS };

async function setUp() {
  const clock = fakeClock(Date.UTC(2030, 0, 1));
  const store = await tempStore({ clock });
  const home = tempDir();
  const lineage = new TokenTree({ clock, users: NO_USERS });
  const { signingKey: key } = await openSecrets({
    environment: {},
    ...{ home: home.path, ids: randomIds, clock, log: recordingLog() },
    onNotice: () => undefined,
    vault: await openTestVault(store, home.path),
  });
  const open = () => openLoginSessions({ store, key, users: NO_USERS, clock, ids: randomIds, lineage });
  return {
    ...{ clock, store, open },
    codes: createLoginCodes({ store, clock, ids: randomIds, lineage, users: NO_USERS }),
    sessions: await open(),
    async [Symbol.asyncDispose]() {
      await store.close();
      home[Symbol.dispose]();
    },
  };
}

for (const [what, ms] of Object.entries(JUMPS)) {
  test(`a clock that goes ${what} prolongs no login code`, async () => {
    await using world = await setUp();
    const { code: early } = await world.codes.issue(OPERATOR);
    const { code: late } = await world.codes.issue(OPERATOR);
    world.clock.jump(ms);
    await world.clock.advance(LIMITS.loginCodeMs - 1);
    assert.deepEqual(await world.codes.redeem(early), { ...OPERATOR, version: undefined });
    await world.clock.advance(1);
    assert.equal(await world.codes.redeem(late), undefined);
  });

  test(`a clock that goes ${what} neither prolongs nor ends a login in use`, async () => {
    await using world = await setUp();
    const { jwt, principal } = await world.sessions.start(OPERATOR);
    await world.sessions.verify(jwt);
    const stop = new AbortController();
    const running = world.sessions.run(stop.signal);
    world.clock.jump(ms);
    await world.clock.advance(LIMITS.cookieMs - 1);
    assert.equal((await world.sessions.verify(jwt))?.id, 'operator');
    await world.clock.advance(1);
    assert.equal(await world.sessions.verify(jwt), undefined);
    await world.clock.advance(60_000);
    assert.equal(principal.ended.aborted, true);
    stop.abort();
    await running;
  });

  test(`after a restart with a clock that went ${what}, a login from the future is invalid`, async () => {
    await using world = await setUp();
    const { jwt } = await world.sessions.start(OPERATOR);
    world.clock.jump(ms);
    const after = await world.open();
    assert.equal(await after.verify(jwt), undefined);
    world.clock.jump(-ms);
    assert.equal((await after.verify(jwt))?.id, 'operator');
  });
}

for (const [what, ms] of Object.entries(AHEAD)) {
  test(`a clock that goes ${what} ends the login codes that expired by it`, async () => {
    await using world = await setUp();
    const { code } = await world.codes.issue(OPERATOR);
    world.clock.jump(ms);
    assert.equal(await world.codes.redeem(code), undefined);
  });
}

test('a clock set forward by an hour shortens a login by an hour; by 400 days, it ends the login', async () => {
  await using world = await setUp();
  const { jwt } = await world.sessions.start(OPERATOR);
  world.clock.jump(HOUR_MS);
  await world.clock.advance(LIMITS.cookieMs - HOUR_MS - 1);
  assert.equal((await world.sessions.verify(jwt))?.id, 'operator');
  await world.clock.advance(1);
  assert.equal(await world.sessions.verify(jwt), undefined);
  const { jwt: other } = await world.sessions.start(OPERATOR);
  world.clock.jump(400 * DAY_MS);
  assert.equal(await world.sessions.verify(other), undefined);
});
