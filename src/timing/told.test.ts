import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTold } from './told.ts';

test('news are made once, and reach all listeners in the order in which they were added', () => {
  const told = createTold<number>();
  const heard: string[] = [];
  let made = 0;
  told.add((news) => void heard.push(`a ${news}`));
  told.add((news) => void heard.push(`b ${news}`));
  for (let n = 1; n <= 2; n += 1)
    told.tell(() => {
      made += 1;
      return n;
    });
  assert.deepEqual([heard, made, told.hasListeners], [['a 1', 'b 1', 'a 2', 'b 2'], 2, true]);
});

test('news are not made if nobody listens', () => {
  const told = createTold<number>();
  told.tell(() => assert.fail('nobody listens'));
  assert.equal(told.hasListeners, false);
});
