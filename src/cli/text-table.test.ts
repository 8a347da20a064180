import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTextTable } from './text-table.ts';

test('a cell with a line end stays in its row', () => {
  const table = toTextTable([
    ['NAME', 'STATE'],
    ['evil\nada   on', 'off'],
  ]);
  assert.equal(table, 'NAME            STATE\nevil\\nada   on  off\n');
});
