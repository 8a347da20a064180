import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from './pace.ts';
import { fakeTimers } from './testing/fake-timers.ts';

test('many jobs begin at once, the others in order and one after the other', async () => {
  const timers = fakeTimers();
  const pace = new Pace(timers);
  const begun: number[] = [];
  const cancels = Array.from({ length: 100 }, (_, index) => pace.add(() => begun.push(index)));
  assert.equal(begun.length, 60);
  cancels[60]?.();
  await timers.advance(100);
  assert.deepEqual(begun.slice(60), [61]);
  await timers.advance(38 * 100);
  assert.deepEqual([begun.length, begun.at(-1)], [99, 99]);
});

test('a refusal holds all jobs; a new connection begins them again', async () => {
  const timers = fakeTimers();
  const pace = new Pace(timers);
  const begun: string[] = [];
  pace.hold(500);
  pace.add(() => begun.push('a'));
  await timers.advance(499);
  assert.equal(begun.join(), '');
  await timers.advance(1);
  assert.equal(begun.join(), 'a');
  pace.hold(500);
  pace.reset();
  pace.add(() => begun.push('b'));
  assert.equal(begun.join(), 'a,b');
});
