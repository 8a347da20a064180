import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toInputRows } from './input-rows.ts';

const size = { columns: 12, maxRows: 10 };

test('wide characters and clusters take as many columns as in a terminal', () => {
  const text = '日本👨‍👩‍👧语ab';
  assert.deepEqual(toInputRows({ prompt: '> ', text, cursor: text.length }, size), {
    rows: ['> 日本👨‍👩‍👧语a', '  b'],
    cursor: { row: 1, column: 3 },
  });
});

test('a draft of several lines takes several rows', () => {
  assert.deepEqual(toInputRows({ prompt: '> ', text: 'one\ntwo\n', cursor: 5 }, size), {
    rows: ['> one', '  two', '  '],
    cursor: { row: 1, column: 3 },
  });
});

test('a long draft is cut to the part around the cursor', () => {
  const text = Array.from({ length: 20 }, (_, line) => `l${line}`).join('\n');
  const { rows, cursor } = toInputRows({ prompt: '> ', text, cursor: 0 }, { columns: 12, maxRows: 3 });
  assert.deepEqual([rows, cursor], [['> l0', '  l1', '  l2'], { row: 0, column: 2 }]);
  const end = toInputRows({ prompt: '> ', text, cursor: text.length }, { columns: 12, maxRows: 3 });
  assert.deepEqual([end.rows, end.cursor], [['  l17', '  l18', '  l19'], { row: 2, column: 5 }]);
});

test('of a very long text only what is around the cursor is laid out, and typing does not move it', () => {
  const size = { columns: 20, maxRows: 3 };
  for (const line of [`${'x'.repeat(12)}\n`, 'x'.repeat(12)]) {
    const text = line.repeat(100_000);
    const { rows, cursor } = toInputRows({ prompt: '› ', text: `${text}end`, cursor: text.length + 3 }, size);
    assert.deepEqual([rows.length, rows[cursor.row]?.slice(0, cursor.column).endsWith('end')], [3, true]);
    const before = toInputRows({ prompt: '› ', text: `${text}en`, cursor: text.length + 2 }, size);
    assert.deepEqual(before.rows.slice(0, -1), rows.slice(0, -1));
    assert.equal(toInputRows({ prompt: '› ', text, cursor: 0 }, size).rows[0]?.slice(0, 2), '› ');
  }
});
