import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { recordingLog, tempDir } from '../testing/temp-store.ts';
import { openNodeState } from './node-state.ts';

const [TO_X, TO_Y] = ['ws://x/', 'ws://y/'];

test('two processes with one home keep the pairings of each other', async () => {
  using home = tempDir();
  const open = () =>
    openNodeState({ home: home.path, ids: { secret: () => 'id' }, clock: fakeClock(), log: recordingLog() });
  const [first, second] = [await open(), await open()];
  const toPairing = (token: string) => ({ token, commands: ['a'] });
  await first.keep(TO_X, toPairing('x'));
  await second.keep(TO_Y, toPairing('y'));
  const both = await open();
  assert.deepEqual([both.find(TO_X), both.find(TO_Y)], [toPairing('x'), toPairing('y')]);
  await first.forget(TO_X);
  const one = await open();
  assert.deepEqual([one.nodeId, one.find(TO_X), one.find(TO_Y)], ['id', undefined, toPairing('y')]);
});
