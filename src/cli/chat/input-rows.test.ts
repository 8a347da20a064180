import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toInputRows } from './input-rows.ts';

const size = { columns: 12, maxRows: 10 };

test('wide signs and clusters take the columns that a terminal gives them', () => {
  const text = '日本👨‍👩‍👧语ab';
  assert.deepEqual(toInputRows({ prompt: '> ', text, cursor: text.length }, size), {
    rows: ['> 日本👨‍👩‍👧语a', '  b'],
    cursor: { row: 1, column: 3 },
  });
});

test('lines of a draft stand below each other', () => {
  assert.deepEqual(toInputRows({ prompt: '> ', text: 'one\ntwo\n', cursor: 5 }, size), {
    rows: ['> one', '  two', '  '],
    cursor: { row: 1, column: 3 },
  });
});

test('of a long draft the part around the cursor is shown', () => {
  const text = Array.from({ length: 20 }, (_, line) => `l${line}`).join('\n');
  const { rows, cursor } = toInputRows({ prompt: '> ', text, cursor: 0 }, { columns: 12, maxRows: 3 });
  assert.deepEqual([rows, cursor], [['> l0', '  l1', '  l2'], { row: 0, column: 2 }]);
  const end = toInputRows({ prompt: '> ', text, cursor: text.length }, { columns: 12, maxRows: 3 });
  assert.deepEqual([end.rows, end.cursor], [['  l17', '  l18', '  l19'], { row: 2, column: 5 }]);
});
