import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearestCommand, usageOf } from './commands.ts';

test('the nearest command to a mistyped one is found', () => {
  const typed = ['he', 'hlep', 'helpp', 'hel', 'holp', 'Clear', 'nmae', 'resum', 'mdoel', 'xyz', 'h', 'toString', ''];
  assert.deepEqual(typed.map(findNearestCommand), [
    ...['help', 'help', 'help', 'help', 'help', 'clear', 'name', 'resume', 'model'],
    ...[undefined, 'help', undefined, undefined],
  ]);
});

test('usage shows the argument of a command', () => {
  assert.deepEqual([usageOf('help'), usageOf('model'), usageOf('name')], ['/help', '/model [ALIAS]', '/name NAME']);
});
