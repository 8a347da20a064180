import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMentions, mentionBefore, toMentioned } from './mentions.ts';

const pathsIn = (text: string) => findMentions(text).map(({ path, lines }) => [path, lines?.first, lines?.last]);

test('mentions are paths after an @ at the beginning of a word, with an optional line or range', () => {
  assert.deepEqual(pathsIn('see @src/a.ts, @b.ts#7 and @c.ts#20-45.'), [
    ['src/a.ts', undefined, undefined],
    ['b.ts', 7, 7],
    ['c.ts', 20, 45],
  ]);
  assert.deepEqual(pathsIn('@"my notes.txt"#2-3 @"my notes.txt"#2-3'), [['my notes.txt', 2, 3]]);
  assert.deepEqual(pathsIn('me@example.com @ @...'), []);
});

test('a mention is being typed up to the cursor', () => {
  assert.equal(mentionBefore('look at @src/ma and more', 15), 'src/ma');
  assert.equal(mentionBefore('@', 1), '');
  for (const text of ['me@exam', 'look at @src/main ', '@a.ts#3'])
    assert.equal(mentionBefore(text, text.length), undefined);
});

test('a path with blanks is quoted', () => {
  assert.deepEqual(['a.ts', 'my notes.txt', 'c#.ts'].map(toMentioned), ['a.ts', '"my notes.txt"', '"c#.ts"']);
});
