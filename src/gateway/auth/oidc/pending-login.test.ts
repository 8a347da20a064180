import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../../ids.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testKey } from '../../testing/test-accounts.ts';
import { createPendingLogins, PENDING_MS } from './pending-login.ts';

const key = await testKey();

function setUp(context = ['https://sso.example.com', 'headgate']) {
  const clock = fakeClock(1_700_000_000_000);
  return { clock, pending: createPendingLogins({ key, context, clock, ids: randomIds }) };
}

test('a login that comes back has the checks that it began with, once', async () => {
  const { pending } = setUp();
  const { sealed, checks } = await pending.begin({ isFresh: true });
  assert.deepEqual(await pending.finish(sealed, checks.state), checks);
  assert.equal(await pending.finish(sealed, checks.state), undefined);
  assert.equal(new Set([checks.state, checks.nonce, checks.verifier, sealed]).size, 4);
  for (const secret of [checks.state, checks.nonce, checks.verifier]) assert.equal(sealed.includes(secret), false);
});

test('a login that comes back names the session that the browser had when it began', async () => {
  const { pending } = setUp();
  const follows = 'login_a-B.login_9';
  const { sealed, checks } = await pending.begin({ isFresh: true, follows });
  assert.equal((await pending.finish(sealed.replace('B.', 'C.'), checks.state))?.follows, undefined);
  assert.deepEqual(await pending.finish(sealed, checks.state), { ...checks, follows, isFresh: true });
});

test('the state of another login is refused, and does not use the login up', async () => {
  const { pending } = setUp();
  const [one, other] = [await pending.begin({ isFresh: false }), await pending.begin({ isFresh: false })];
  for (const state of [other.checks.state, '', `${one.checks.state}x`, one.checks.nonce])
    assert.equal(await pending.finish(one.sealed, state), undefined);
  assert.deepEqual(await pending.finish(one.sealed, one.checks.state), one.checks);
});

test('every changed character of the sealed text is noticed', async () => {
  const { pending } = setUp();
  const { sealed, checks } = await pending.begin({ isFresh: false });
  const changed = [...sealed].map(
    (letter, at) => sealed.slice(0, at) + (letter === '0' ? '1' : '0') + sealed.slice(at + 1),
  );
  const found = await Promise.all(
    [...changed, '', `${sealed}0`, 'x'].map((text) => pending.finish(text, checks.state)),
  );
  assert.deepEqual(
    found.filter((each) => each !== undefined),
    [],
  );
});

test('a login expires after ten minutes, and a clock that is set back does not prolong it', async () => {
  const { clock, pending } = setUp();
  const { sealed, checks, expiresAtMs } = await pending.begin({ isFresh: false });
  assert.equal(expiresAtMs, clock.now() + PENDING_MS);
  await clock.advance(PENDING_MS);
  assert.equal(await pending.finish(sealed, checks.state), undefined);
  const early = createPendingLogins({
    key,
    context: ['https://sso.example.com', 'headgate'],
    clock: fakeClock(0),
    ids: randomIds,
  });
  assert.equal(await early.finish(sealed, checks.state), undefined);
});

test('a login counts only for the provider and client that it was begun for, also after a restart', async () => {
  const { sealed, checks } = await setUp().pending.begin({ isFresh: false });
  assert.equal(await setUp(['https://other.example', 'headgate']).pending.finish(sealed, checks.state), undefined);
  assert.equal(await setUp(['https://sso.example.com', 'other']).pending.finish(sealed, checks.state), undefined);
  assert.deepEqual(await setUp().pending.finish(sealed, checks.state), checks);
});
