import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCommands, isCommand } from './commands.ts';

test('a slash and a word is a command, a path is a message', () => {
  assert.deepEqual(['/help', '/name new name', ' /clear', '/etc/hosts is odd', 'see /help', '/', '//'].map(isCommand), [
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('the beginning of a command offers the rest', () => {
  assert.deepEqual(
    findCommands('/n').map(({ name }) => name),
    ['/new', '/name'],
  );
  assert.deepEqual(findCommands('/new'), []);
  assert.deepEqual(findCommands('hello'), []);
});
