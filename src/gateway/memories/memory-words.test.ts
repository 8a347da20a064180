import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_WORDS, toIndexed, toRankingQuery, toWordQuery } from './memory-words.ts';

test('each word of a query is quoted, and longer ones also find words that begin with them', () => {
  assert.deepEqual(toWordQuery(' dark  mode a '), { kind: 'words', match: '"dark" * AND "mode" * AND "a"' });
});

test('operators, quotes and control characters of a query are text', () => {
  assert.deepEqual(
    ['"tabs"', 'NEAR(a b)', 'name:x OR y*', '-tabs ^x', 'a\u0000b'].map(toWordQuery),
    ['"tabs" *', '"NEAR(a" AND "b)"', '"name:x" AND "OR" * AND "y*"', '"-tabs" * AND "^x"', '"a" AND "b"'].map(
      (match) => ({ kind: 'words', match }),
    ),
  );
});

test('a query without letters, digits and emoji finds nothing', () => {
  assert.deepEqual(
    ['*', '"', '- -', '()', ':^+'].map((query) => toWordQuery(query).kind),
    Array.from({ length: 5 }, () => 'nothing'),
  );
});

test('a query has a limited number of different words', () => {
  const words = Array.from({ length: MOST_WORDS }, (_, n) => `w${n}`);
  assert.deepEqual(
    [words, [...words, ...words], [...words, 'more']].map((list) => toWordQuery(list.join(' ')).kind),
    ['words', 'words', 'too many words'],
  );
});

test('emoji, and characters of scripts without spaces, are words', () => {
  assert.equal(toIndexed('done✅深色 ok').replaceAll(/ +/g, ' '), 'done u2705emoji 深 色 ok');
  assert.deepEqual(toWordQuery('深色 ✅'), { kind: 'words', match: '"深  色" AND "u2705emoji"' });
});

test('a ranking looks for the words that say something, those of the first text before all others', () => {
  assert.equal(
    toRankingQuery(['What is the "harbour" PORT, please? a-b 港', 'harbour\u0000naïve']),
    '"harbour" OR "port" OR "港" OR "naïve"',
  );
  assert.equal(toRankingQuery(['what is it?', '']), undefined);
  assert.equal(toRankingQuery(['สั่ง ခင်']), '"ส" OR "ง" OR "ခ" OR "င"'); // their marks are not looked for
  const many = Array.from({ length: 100 }, (_, n) => `word${n}`).join(' ');
  assert.equal(toRankingQuery([many])?.split(' OR ').length, 20);
});
