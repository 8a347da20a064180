import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearestCommand, usageOf } from './commands.ts';

test('a mistyped command is taken for the one it nearly is', () => {
  const typed = ['he', 'hlep', 'helpp', 'hel', 'holp', 'Clear', 'nmae', 'resum', 'mdoel', 'xyz', 'h', 'toString', ''];
  assert.deepEqual(typed.map(findNearestCommand), [
    ...['help', 'help', 'help', 'help', 'help', 'clear', 'name', 'resume', 'model'],
    ...[undefined, 'help', undefined, undefined],
  ]);
});

test('usage shows what a command takes', () => {
  assert.deepEqual([usageOf('help'), usageOf('model'), usageOf('name')], ['/help', '/model [ALIAS]', '/name NAME']);
});
