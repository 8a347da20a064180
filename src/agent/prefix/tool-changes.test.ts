import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findToolChanges } from './tool-changes.ts';

const tool = (name: string, description = '', parameters = {}) => ({ name, description, parameters });

test('tools are compared by name: added, removed, with other arguments, or described in other words', () => {
  const before = [tool('bash'), tool('search'), tool('fetch', 'Fetches.'), tool('look', '', { a: 1, b: 2 })];
  const now = [
    tool('look', 'Looks.', { b: 2, a: 1 }),
    tool('bash', 'Runs.', { type: 'object' }),
    tool('node'),
    tool('fetch', 'Fetches.'),
  ];
  assert.deepEqual(findToolChanges(before, now), [
    { name: 'search', kind: 'removed' },
    { name: 'look', kind: 'description' },
    { name: 'bash', kind: 'arguments' },
    { name: 'node', kind: 'added' },
  ]);
  assert.deepEqual(findToolChanges(before, before.toReversed()), []);
});
