import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoginKeeper } from './login-keeper.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function open({ leftMs = (24 * HOUR_MS) as number | undefined } = {}) {
  const state = { nowMs: 0, leftMs, asked: 0, refreshed: 0, isNeeded: true };
  const keeper = new LoginKeeper({
    isNeeded: () => state.isNeeded,
    async leftMs() {
      state.asked += 1;
      return state.leftMs;
    },
    async refresh() {
      state.refreshed += 1;
      state.leftMs = 24 * HOUR_MS;
    },
    now: () => state.nowMs,
  });
  return { state, keeper };
}

const settled = () => new Promise(setImmediate);

test('a person who works gets a new login once half of the old one is over', async () => {
  const { state, keeper } = open();
  for (let minute = 0; minute < 30 * 60; minute += 1) {
    state.nowMs += MINUTE_MS;
    if (state.leftMs !== undefined) state.leftMs -= MINUTE_MS;
    keeper.onActivity();
    await settled();
  }
  assert.deepEqual([state.asked, state.refreshed], [180, 2]);
});

test('the daemon is asked after a return, because the clock of the page may have stood still', async () => {
  const { state, keeper } = open();
  keeper.onActivity();
  await settled();
  state.leftMs = HOUR_MS; // the machine slept for 23 hours
  keeper.onActivity();
  await settled();
  assert.equal(state.refreshed, 0);
  await keeper.onReturn();
  assert.equal(state.refreshed, 1);
});

test('a login that another tab has renewed, one that has ended and one without an end are left alone', async () => {
  for (const leftMs of [13 * HOUR_MS, 0, -1, Number.NaN, undefined]) {
    const { state, keeper } = open({ leftMs });
    await keeper.onReturn();
    assert.equal(state.refreshed, 0, String(leftMs));
  }
});

test('a daemon that does not answer is asked again later, and not while nobody is logged in', async () => {
  const { state, keeper } = open();
  state.isNeeded = false;
  await keeper.onReturn();
  assert.equal(state.asked, 0);
  let asked = 0;
  const failing = new LoginKeeper({
    isNeeded: () => true,
    leftMs: async () => {
      asked += 1;
      throw new Error('offline');
    },
    refresh: () => assert.fail(),
    now: () => 0,
  });
  await failing.onReturn();
  await failing.onReturn();
  assert.equal(asked, 2);
});
