import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCommandChanges } from './command-changes.ts';

test('what is asked for is held against what was approved before', () => {
  assert.deepEqual(toCommandChanges(['b', 'c'], ['b', 'a']), [
    { name: 'a', change: 'gone' },
    { name: 'b', change: undefined },
    { name: 'c', change: 'new' },
  ]);
});

test('where nothing was approved before nothing has changed; a name said twice is shown once', () => {
  assert.deepEqual(toCommandChanges(['b', 'a', 'b'], undefined), [
    { name: 'a', change: undefined },
    { name: 'b', change: undefined },
  ]);
});
