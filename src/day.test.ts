import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMoment } from './day.ts';
import { iso } from './http/iso.ts';

test('a moment that others named becomes one that a date can have', () => {
  assert.deepEqual([1e300, 8.64e15 + 1, 12.7, -5].map(toMoment), [8.64e15, 8.64e15, 12, 0]);
  assert.equal(iso(1e17), '+275760-09-13T00:00:00.000Z');
});
