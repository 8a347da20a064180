import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Newest } from './newest.ts';

test('an answer is kept unless one that was asked for later was kept before', () => {
  const newest = new Newest();
  const [first, second, third] = [newest.ask(), newest.ask(), newest.ask()];
  assert.deepEqual([second(), first(), third(), second()], [true, false, true, false]);
});
