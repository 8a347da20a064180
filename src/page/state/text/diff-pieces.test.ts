import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markPieces, toOneColumn } from './diff-pieces.ts';
import type { DiffRow } from './diff-rows.ts';

test('a mark splits the coloured pieces at its edges', () => {
  const pieces = [
    { text: 'const', className: 'k' },
    { text: ' total = ', className: undefined },
    { text: '12', className: 'n' },
  ];
  const marked = markPieces(pieces, [
    [6, 11],
    [14, 16],
  ]);
  assert.deepEqual(
    marked.map((piece) => [piece.text, piece.className, piece.marked]),
    [
      ['const', 'k', false],
      [' ', undefined, false],
      ['total', undefined, true],
      [' = ', undefined, false],
      ['12', 'n', true],
    ],
  );
});

test('in one column, each run of changes shows removed lines before added ones', () => {
  const line = (number: number, text: string) => ({ number, text, marks: [] });
  const same: DiffRow = { kind: 'same', before: line(3, 'x'), after: line(3, 'x') };
  const rows: DiffRow[] = [
    { kind: 'changed', before: line(1, 'a'), after: line(1, 'A') },
    { kind: 'changed', before: line(2, 'b'), after: line(2, 'B') },
    same,
    { kind: 'changed', before: undefined, after: line(4, 'C') },
  ];
  const texts = toOneColumn(rows).map((row) => (row.kind === 'changed' ? (row.before ?? row.after)?.text : row.kind));
  assert.deepEqual(texts, ['a', 'b', 'A', 'B', 'same', 'C']);
});
