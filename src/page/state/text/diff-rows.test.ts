import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import fc from 'fast-check';
import { toOneColumn } from './diff-pieces.ts';
import { type DiffLine, type DiffRow, parseDiff } from './diff-rows.ts';

/** What the tools show of a change. */
const diffOf = (before: string, after: string, context = 3): string =>
  createTwoFilesPatch('a.ts', 'a.ts', before, after, '', '', { context, headerOptions: FILE_HEADERS_ONLY });

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

/** A row in one line: `12|13 text`, `-`, `+` with marks in brackets. */
function toLine(row: DiffRow): string {
  switch (row.kind) {
    case 'same':
      return `${row.before.number}|${row.after.number} ${row.after.text}`;
    case 'changed':
      return [row.before && `-${marked(row.before)}`, row.after && `+${marked(row.after)}`].filter(Boolean).join(' ');
    case 'gap':
      return `gap ${row.lines}`;
    case 'folded':
      return `folded ${row.rows.length}`;
  }
}

function marked({ number, text, marks }: DiffLine): string {
  let shown = text;
  for (const [from, to] of marks.toReversed())
    shown = `${shown.slice(0, from)}[${shown.slice(from, to)}]${shown.slice(to)}`;
  return `${number} ${shown}`;
}

const rowsOf = (text: string) => parseDiff(text)?.files[0]?.rows.map(toLine);

test('both sides have line numbers, changed words are marked, and omitted lines are counted', () => {
  const before = lines(30).replace('line 12\n', 'const total = 12;\nold\n');
  const after = lines(30).replace('line 12\n', 'const sum = 12;\nnew\nnewer\n');
  assert.deepEqual(rowsOf(diffOf(before, after)), [
    'gap 8',
    '9|9 line 9',
    '10|10 line 10',
    '11|11 line 11',
    '-12 const [total] = 12; +12 const [sum] = 12;',
    '-13 old +13 new',
    '+14 newer',
    '14|15 line 13',
    '15|16 line 14',
    '16|17 line 15',
  ]);
});

test('a created or emptied file has one side', () => {
  const created = parseDiff(
    createTwoFilesPatch('/dev/null', 'b.py', '', 'x\ny\n', '', '', { headerOptions: FILE_HEADERS_ONLY }),
  );
  assert.deepEqual(
    created?.files.map(({ oldName, newName, added, removed }) => [oldName, newName, added, removed]),
    [[undefined, 'b.py', 2, 0]],
  );
  assert.deepEqual(created?.files[0]?.rows.map(toLine), ['+1 x', '+2 y']);
  assert.deepEqual(rowsOf(diffOf('x\ny\n', '')), ['-1 x', '-2 y']);
});

test('long unchanged stretches are folded, except for lines around the changes', () => {
  const before = `first\n${lines(20)}last\n`;
  const rows = rowsOf(diffOf(before, before.replace('first', 'First').replace('last', 'Last'), 100));
  assert.deepEqual(rows, [
    '-1 first +1 First',
    ...['2|2 line 1', '3|3 line 2', '4|4 line 3'],
    'folded 14',
    ...['19|19 line 18', '20|20 line 19', '21|21 line 20'],
    '-22 last +22 Last',
  ]);
});

test('the effort grows with the lines: a new file of 300,000 is shown', () => {
  const lines = Array.from({ length: 300_000 }, (_, index) => `+line ${index}\n`).join('');
  const [file] = parseDiff(`--- /dev/null\n+++ b/x\n@@ -0,0 +1,300000 @@\n${lines}`)?.files ?? [];
  assert.deepEqual([file?.rows.length, toOneColumn(file?.rows ?? []).length], [300_000, 300_000]);
});

test('remarks before a diff are kept', () => {
  assert.equal(
    parseDiff(`(outside the working directory: /etc/x)\n${diffOf('a\n', 'b\n')}`)?.remarks,
    '(outside the working directory: /etc/x)',
  );
});

test('a text that is not a complete diff is not parsed as one', () => {
  const real = diffOf('a\n', 'b\n');
  for (const text of [
    '',
    'npm test',
    '- a list\n+ of things',
    '@@ nothing',
    `${real}and more\n`,
    real.replace('-1,1', '-1,9'),
  ]) {
    assert.equal(parseDiff(text), undefined, JSON.stringify(text));
  }
});

test('git diffs of several files are parsed', () => {
  const one = 'diff --git a/x.c b/x.c\nindex 1..2 100644\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@ int main()\n-a\n+b\n';
  assert.deepEqual(
    parseDiff(one + one.replaceAll('x.c', 'y.c'))?.files.map(({ newName }) => newName),
    ['b/x.c', 'b/y.c'],
  );
});

test('the rows of any diff reproduce both texts', () => {
  const file = fc
    .array(fc.constantFrom('a', 'b', 'c', '', '-- x', '++ y', '@@ -1 +1 @@', 'diff z'))
    .map((all) => all.map((line) => `${line}\n`).join(''));
  fc.assert(
    fc.property(file, file, (before, after) => {
      const rows = parseDiff(diffOf(before, after, 1_000))?.files[0]?.rows ?? [];
      const all = rows
        .flatMap((row) => (row.kind === 'folded' ? row.rows : [row]))
        .filter((row) => row.kind === 'same' || row.kind === 'changed');
      const side = (of: 'before' | 'after') => all.flatMap((row) => (row[of] ? [`${row[of].text}\n`] : [])).join('');
      if (before !== after) assert.deepEqual({ before: side('before'), after: side('after') }, { before, after });
    }),
  );
});
