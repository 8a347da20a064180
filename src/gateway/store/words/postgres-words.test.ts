import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRankingQuery, toWordQuery } from '../../memories/memory-words.ts';
import { toTsQuery } from './postgres-words.ts';

const searched = (query: string): string => {
  const words = toWordQuery(query);
  return words.kind === 'words' ? toTsQuery(words.match) : words.kind;
};

test('all words of a query are searched for, longer ones also as beginnings', () => {
  assert.deepEqual(['dark mode a', 'Crème', '深色 ✅', 'naïve@example.org', "o'clock", "x') | 'y"].map(searched), [
    "'dark':* & 'mode':* & 'a'",
    "'creme':*",
    "('深' <-> '色') & 'u2705emoji'",
    "('naive' <-> 'example' <-> 'org':*)",
    "('o' <-> 'clock':*)",
    "'x' & 'y'",
  ]);
});

test('words without a letter or a decimal digit, which the index does not have, are not searched for', () => {
  assert.deepEqual(['½', '5 ½', 'foo ² ①②', 'สวัสดี'].map(searched), [
    '',
    "'5'",
    "'foo':*",
    "('ส' <-> 'ว' <-> 'ส' <-> 'ด')",
  ]);
  assert.equal(toTsQuery(toRankingQuery(['steps ①②③ สั']) ?? ''), "'steps' | 'ส'");
  assert.equal(toTsQuery(toRankingQuery(['①②③']) ?? ''), '');
});

test('a ranking searches for any of its words', () => {
  assert.equal(toTsQuery(toRankingQuery(['Harbour "or" port']) ?? ''), "'harbour' | 'port'");
  assert.equal(toTsQuery(toRankingQuery(['harbour']) ?? ''), "'harbour'");
});
