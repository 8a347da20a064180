import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUDGET, openConnection } from './connection-fixture.ts';

test('a slow client misses droppable events, and is disconnected at others', async () => {
  const { welcome, broadcast, frames, calls, endTurn } = openConnection({ isStalled: true });
  await welcome();
  broadcast.publish('shutdown', { reason: 'x'.repeat(BUDGET) });
  broadcast.publish('tick', { ts: 2 });
  await endTurn();
  assert.equal(frames().length, 2);
  assert.equal(calls.at(-1), 'resume');
  broadcast.publish('shutdown', { reason: 'now' });
  assert.equal(calls.at(-1), 'close 1008 slow consumer');
  assert.equal(broadcast.size, 0);
});

test('a skipped event leaves a gap, because it is a loss', async () => {
  const { welcome, broadcast, frames, drain, endTurn } = openConnection({ isStalled: true });
  await welcome();
  broadcast.publish('shutdown', { reason: 'x'.repeat(BUDGET) });
  broadcast.publish('tick', { ts: 2 });
  drain();
  broadcast.publish('tick', { ts: 3 });
  await endTurn();
  const seqs = frames().flatMap((frame) => (frame.type === 'event' ? [frame.seq] : []));
  assert.deepEqual(seqs, [1, 3]);
});

test('reading from a client that does not read its answers pauses until it does', async () => {
  const { welcome, call, endTurn, calls, drain } = openConnection({
    isStalled: true,
    dispatch: async () => 'x'.repeat(BUDGET),
  });
  await welcome();
  drain();
  calls.length = 0;
  call('1', 'health');
  await endTurn();
  call('2', 'health');
  assert.deepEqual(calls, ['pause']);
  await endTurn();
  drain();
  assert.deepEqual(calls, ['pause', 'resume']);
});
