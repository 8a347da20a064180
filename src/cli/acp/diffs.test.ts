import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toDiff } from '../../agent/tools/files/file-diff.ts';
import { toDiffs } from './diffs.ts';

const at = (name: string) => `/w/${name}`;

test('each hunk becomes the text before and after it', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const after = lines.with(2, 'two').with(25, 'twenty-five');
  const preview = toDiff({ shown: 'src/a.txt', before: `${lines.join('\n')}\n`, after: `${after.join('\n')}\n` });
  const { remarks, diffs } = toDiffs(`Beware: outside.\n${preview}`, at);
  const texts = (from: readonly string[], start: number, end: number) => `${from.slice(start, end).join('\n')}\n`;
  assert.equal(remarks, 'Beware: outside.');
  assert.deepEqual(diffs, [
    { type: 'diff', path: '/w/src/a.txt', oldText: texts(lines, 0, 6), newText: texts(after, 0, 6) },
    { type: 'diff', path: '/w/src/a.txt', oldText: texts(lines, 22, 29), newText: texts(after, 22, 29) },
  ]);
});

test('a new file has no text before, and a deleted one has an empty text after', () => {
  const fresh = toDiff({ shown: 'new.txt', before: undefined, after: 'a\n' });
  const gone = toDiff({ shown: 'old.txt', before: 'b\n', after: undefined });
  assert.deepEqual(toDiffs(`${fresh}${gone}`, at).diffs, [
    { type: 'diff', path: '/w/new.txt', oldText: null, newText: 'a\n' },
    { type: 'diff', path: '/w/old.txt', oldText: 'b\n', newText: '' },
  ]);
});

test('a text without a diff, or with one that is cut off, is shown as it is', () => {
  assert.deepEqual(toDiffs('(too different for a diff)\nnew', at), {
    remarks: '(too different for a diff)\nnew',
    diffs: [],
  });
  const cut = '--- a\n+++ a\n@@ -1,9 +1,9 @@\n a\n-b';
  assert.deepEqual(toDiffs(cut, at), { remarks: cut, diffs: [] });
});
