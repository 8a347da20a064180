import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { createSingleWait } from './single-wait.ts';

test('a wait calls once, after its time', async () => {
  const { wait, clock, calls, note } = setUp();
  wait.begin(1_000, note('a'));
  await clock.advance(999);
  const before = [...calls, wait.isRunning];
  await clock.advance(60_000);
  assert.deepEqual({ before, calls, isRunning: wait.isRunning }, { before: [true], calls: ['a'], isRunning: false });
});

test('a new wait replaces the one that is running', async () => {
  const { wait, clock, calls, note } = setUp();
  wait.begin(1_000, note('a'));
  await clock.advance(999);
  wait.begin(1_000, note('b'));
  await clock.advance(999);
  const before = [...calls];
  await clock.advance(1);
  assert.deepEqual({ before, calls }, { before: [], calls: ['b'] });
});

test('a wait that was ended does not call, even in the turn in which its time is over', async () => {
  const { wait, clock, calls, note } = setUp();
  wait.begin(1_000, note('a'));
  const advanced = clock.advance(1_000);
  wait.end();
  await advanced;
  assert.deepEqual({ calls, isRunning: wait.isRunning }, { calls: [], isRunning: false });
});

function setUp() {
  const clock = fakeClock();
  const calls: string[] = [];
  const note = (name: string) => () => void calls.push(name);
  return { wait: createSingleWait(clock), clock, calls, note };
}
