import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepTail } from './keep-tail.ts';

test('a tail starts at a line start if one is near, and counts the dropped characters', () => {
  assert.deepEqual(keepTail('first\nsecond\nthird', 9), { text: 'third', dropped: 13 });
  assert.deepEqual(keepTail('short', 9), { text: 'short', dropped: 0 });
  assert.deepEqual(keepTail('x'.repeat(20), 9), { text: 'x'.repeat(9), dropped: 11 });
});
