import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createEndOfTurn } from './end-of-turn.ts';

test('tasks run together when the turn is over, or earlier by a flush, and each of them once', async () => {
  const { defer, flush } = createEndOfTurn();
  const ran: string[] = [];
  defer(() => ran.push('a'));
  defer(() => ran.push('b'));
  assert.equal(ran.length, 0);
  flush();
  assert.deepEqual(ran, ['a', 'b']);
  defer(() => ran.push('c'));
  await nextTurn();
  flush();
  assert.deepEqual(ran, ['a', 'b', 'c']);
});

test('what a task defers runs with the next turn', async () => {
  const { defer, flush } = createEndOfTurn();
  const ran: string[] = [];
  defer(() => defer(() => ran.push('later')));
  flush();
  assert.deepEqual(ran, []);
  await nextTurn();
  assert.deepEqual(ran, ['later']);
});

test('a task that throws does not take the others with it', async () => {
  const { defer, flush } = createEndOfTurn();
  const ran: string[] = [];
  defer(() => {
    throw new Error('broken');
  });
  defer(() => ran.push('next'));
  assert.throws(flush, /broken/);
  await nextTurn();
  assert.deepEqual(ran, ['next']);
});
