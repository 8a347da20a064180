import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import fc from 'fast-check';
import { toDiff } from './file-diff.ts';

test('all of a created, emptied or deleted file is a diff, as a comparison would give it', () => {
  const part = fc.constantFrom('a', '\n', '\r\n', '\r', '+', '-- x', '\\ No newline at end of file', '\u2028');
  fc.assert(
    fc.property(fc.array(part), fc.constantFrom(undefined, ''), (parts, none) => {
      const text = parts.join('');
      const compare = (from: string, to: string, [before, after]: [string, string]) =>
        createTwoFilesPatch(from, to, before, after, '', '', { headerOptions: FILE_HEADERS_ONLY });
      const name = none === undefined ? '/dev/null' : 'x';
      assert.equal(toDiff({ shown: 'x', before: none, after: text }), compare(name, 'x', ['', text]));
      assert.equal(toDiff({ shown: 'x', before: text, after: none }), compare('x', name, [text, '']));
    }),
  );
});

test('a created file of 300,000 lines is a diff, however slow the machine is', (t) => {
  let nowMs = 0;
  t.mock.method(Date, 'now', () => (nowMs += 1_000)); // each look at the clock takes a second
  const after = Array.from({ length: 300_000 }, (_, index) => `line ${index}\n`).join('');
  assert.match(
    toDiff({ shown: 'x', before: undefined, after }),
    /^--- \/dev\/null\n\+\+\+ x\n@@ -0,0 \+1,300000 @@\n\+line 0\n/,
  );
});
