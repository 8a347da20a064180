import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toCommandChanges } from './command-changes.ts';

test('requested commands are compared with those approved before', () => {
  assert.deepEqual(toCommandChanges(['b', 'c'], ['b', 'a']), [
    { name: 'a', change: 'gone' },
    { name: 'b', change: undefined },
    { name: 'c', change: 'new' },
  ]);
});

test('without an earlier approval nothing counts as changed; a repeated name is shown once', () => {
  assert.deepEqual(toCommandChanges(['b', 'a', 'b'], undefined), [
    { name: 'a', change: undefined },
    { name: 'b', change: undefined },
  ]);
});
