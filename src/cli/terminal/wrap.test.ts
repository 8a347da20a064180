import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toWordRows, wrapLines } from './wrap.ts';

test('a long line of a notice is broken between words, and goes on below its beginning; others stay as they are', () => {
  const words = 'Copies a conversation here. '.repeat(3).trim();
  assert.deepEqual(wrapLines(`/help         Lists.\n  /resume NAME  ${words}\n`, 80), [
    '/help         Lists.',
    '  /resume NAME  Copies a conversation here. Copies a conversation here. Copies',
    '    a conversation here.',
    '',
  ]);
});

test('a command is broken between words, keeps all its spaces, and is broken inside of words that are too long', () => {
  const command = `git  commit  -m 'a message'  ${'x'.repeat(30)}`;
  const rows = toWordRows(command, 22, { first: '  ', rest: '    ' });
  assert.deepEqual(rows, ["  git  commit  -m 'a", "     message'  ", `    ${'x'.repeat(18)}`, `    ${'x'.repeat(12)}`]);
  assert.equal(rows.map((row, index) => row.slice(index === 0 ? 2 : 4)).join(''), command);
  assert.deepEqual(toWordRows('ls  -l', 80), ['ls  -l']);
});
