import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDiff } from '../text/diff-rows.ts';
import { recallPreview } from './recalled-preview.ts';

const recall = (name: string, args: object) => recallPreview({ name, arguments: JSON.stringify(args) });

test('an edit is shown as a diff, a written file as all new', () => {
  const edit = parseDiff(recall('edit_file', { path: 'a.ts', old_string: 'one\ntwo', new_string: 'one\n2' }));
  const written = parseDiff(recall('write_file', { path: 'b.ts', content: 'x\ny\n' }));
  assert.deepEqual(
    [edit, written].map((patch) =>
      patch?.files.map(({ oldName, newName, added, removed }) => [oldName, newName, added, removed]),
    ),
    [[['a.ts', 'a.ts', 1, 1]], [[undefined, 'b.ts', 2, 0]]],
  );
});

test('the preview of a command is its text; there is none if the subject already shows all of it', () => {
  assert.equal(recall('bash', { command: 'cd x\nmake' }), 'cd x\nmake');
  assert.equal(recall('bash', { command: 'make' }), '');
  assert.equal(recall('read_file', { path: 'a' }), '');
  assert.equal(recall('edit_file', { path: 1 }), '');
  assert.equal(recallPreview({ name: 'edit_file', arguments: '{"path' }), '');
});

test('a text that is too long to compare is shown as the new text', () => {
  const text = 'x\n'.repeat(60_000);
  assert.equal(recall('write_file', { path: 'a', content: text }), text);
});

test('two texts with little in common are shown as the new text', () => {
  const lines = (word: string) => Array.from({ length: 1_000 }, (_, n) => `${word} ${n}`).join('\n');
  const preview = recall('edit_file', { path: 'a', old_string: lines('before'), new_string: lines('after') });
  assert.equal(preview, `${lines('after')}`);
});

test('a new file is all new, however many lines it has', () => {
  const content = Array.from({ length: 1_000 }, (_, n) => `line ${n}\n`).join('');
  const written = parseDiff(recall('write_file', { path: 'b.ts', content }));
  assert.deepEqual(
    written?.files.map(({ added, removed }) => [added, removed]),
    [[1_000, 0]],
  );
});
