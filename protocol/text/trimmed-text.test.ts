import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinLines, namesIn, trimEndOf } from './trimmed-text.ts';

test('only the end of a text loses the given characters', () => {
  assert.deepEqual(
    ['https://host/v1//', '//', '', '/a'].map((text) => trimEndOf(text, '/')),
    ['https://host/v1', '', '', '/a'],
  );
  assert.equal(trimEndOf('(see a.ts).', '.)'), '(see a.ts');
});

test('line breaks and the white space around them become one piece, other white space stays', () => {
  assert.equal(joinLines('a  b \n\t\n c\r\nd'), 'a  b c d');
  assert.equal(joinLines('a\nb', ' ⏎ '), 'a ⏎ b');
  assert.equal(joinLines(`${'\t'.repeat(200_000)}x`).length, 200_001);
});

test('names in a list are trimmed, and empty ones are left out', () => {
  assert.deepEqual(namesIn(' a, ,b ,'), ['a', 'b']);
});
