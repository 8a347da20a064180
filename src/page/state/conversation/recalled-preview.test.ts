import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDiff } from '../text/diff-rows.ts';
import { type RecalledPreview, recallPreview } from './recalled-preview.ts';

const recall = (name: string, args: object) => recallPreview({ name, arguments: JSON.stringify(args) });
const diffOf = ({ text, isDiff }: RecalledPreview) => (isDiff ? parseDiff(text) : undefined);
const plain = (text: string): RecalledPreview => ({ text, isDiff: false, isNumbered: false });

test('an edit is shown as a diff, a written file as all new', () => {
  const edit = diffOf(recall('edit_file', { path: 'a.ts', old_string: 'one\ntwo', new_string: 'one\n2' }));
  const written = diffOf(recall('write_file', { path: 'b.ts', content: 'x\ny\n' }));
  assert.deepEqual(
    [edit, written].map((patch) =>
      patch?.files.map(({ oldName, newName, added, removed }) => [oldName, newName, added, removed]),
    ),
    [[['a.ts', 'a.ts', 1, 1]], [[undefined, 'b.ts', 2, 0]]],
  );
});

test('the lines of a written file have the numbers of the file, those of an edit do not', () => {
  const edit = recall('edit_file', { path: 'a.ts', old_string: 'one', new_string: '1' });
  const written = recall('write_file', { path: 'b.ts', content: 'x' });
  assert.deepEqual([edit.isNumbered, written.isNumbered], [false, true]);
});

test('several edits are shown as several diffs, a patch as it was written', () => {
  const edits = [
    { old_string: 'one', new_string: '1', replace_all: true },
    { old_string: 'two\n', new_string: '2\n' },
  ];
  const patch = diffOf(recall('edit_file', { path: 'a.ts', edits }));
  assert.deepEqual(
    patch?.files.map(({ newName, added, removed }) => [newName, added, removed]),
    [
      ['a.ts', 1, 1],
      ['a.ts', 1, 1],
    ],
  );
  const text = '*** Begin Patch\n*** Delete File: a.ts\n*** End Patch';
  assert.deepEqual(recall('apply_patch', { patch: text }), plain(text));
});

test('the preview of a command is its text; there is none if the subject already shows all of it', () => {
  assert.deepEqual(recall('bash', { command: 'cd x\nmake' }), plain('cd x\nmake'));
  assert.deepEqual(recall('bash', { command: 'make' }), plain(''));
  assert.deepEqual(recall('read_file', { path: 'a' }), plain(''));
  assert.deepEqual(recall('edit_file', { path: 1 }), plain(''));
  assert.deepEqual(recallPreview({ name: 'edit_file', arguments: '{"path' }), plain(''));
});

test('a command that looks like a diff is text', () => {
  const command = '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y';
  assert.deepEqual(recall('bash', { command }), plain(command));
});

test('a text that is too long to compare is shown as the new text', () => {
  const text = 'x\n'.repeat(60_000);
  assert.deepEqual(recall('write_file', { path: 'a', content: text }), plain(text));
});

test('two texts with little in common are shown as the new text', () => {
  const lines = (word: string) => Array.from({ length: 1_000 }, (_, n) => `${word} ${n}`).join('\n');
  const preview = recall('edit_file', { path: 'a', old_string: lines('before'), new_string: lines('after') });
  assert.deepEqual(preview, plain(lines('after')));
});

test('a new file is all new, however many lines it has', () => {
  const content = Array.from({ length: 1_000 }, (_, n) => `line ${n}\n`).join('');
  const written = diffOf(recall('write_file', { path: 'b.ts', content }));
  assert.deepEqual(
    written?.files.map(({ added, removed }) => [added, removed]),
    [[1_000, 0]],
  );
});
