import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { PollState } from './poll-state.ts';
import { BotApiError } from './wire/bot-api-error.ts';

const MINUTE_MS = 60_000;
const conflict = new BotApiError('conflict', 'Another program polls.');

test('the silence is counted from the last successful poll, whatever fails meanwhile, and begins anew with new settings', async () => {
  const clock = fakeClock(1_000_000);
  const state = new PollState(clock);
  assert.equal(state.report.silentMs, undefined);
  state.connecting();
  await clock.advance(3 * MINUTE_MS);
  assert.equal(state.report.silentMs, 3 * MINUTE_MS, 'no poll has ever succeeded');
  state.polled();
  await clock.advance(MINUTE_MS);
  state.troubled(new Error('unreachable'));
  state.troubled(conflict);
  clock.jump(3_600_000);
  await clock.advance(MINUTE_MS);
  assert.equal(state.report.silentMs, 2 * MINUTE_MS, 'a clock that is changed is no silence');
  state.connecting();
  assert.equal(state.report.silentMs, 0);
  state.off();
  assert.equal(state.report.silentMs, undefined);
});

test('conflicts belong together although polls between them succeed, until five minutes have passed without one', async () => {
  const clock = fakeClock(1_000_000);
  const state = new PollState(clock);
  state.connecting();
  state.troubled(conflict);
  for (let round = 0; round < 3; round += 1) {
    await clock.advance(MINUTE_MS);
    state.polled();
    state.troubled(conflict);
  }
  state.polled();
  assert.deepEqual([state.report.state, state.report.conflictMs], ['polling', 3 * MINUTE_MS]);
  await clock.advance(5 * MINUTE_MS + 1);
  assert.equal(state.report.conflictMs, undefined);
  state.troubled(conflict);
  assert.equal(state.report.conflictMs, 0, 'another one');
});
