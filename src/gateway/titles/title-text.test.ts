import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTitle, toTitle } from './title-text.ts';

test('a title is the first line with words of an answer, without decoration', () => {
  const titles: Record<string, string> = {
    'Sorting a list': 'Sorting a list',
    '\n\n**Title:** "Sorting a list."\nBecause you asked': 'Sorting a list',
    '# Sorting a list': 'Sorting a list',
    '„Eine Liste sortieren“': 'Eine Liste sortieren',
    'Key sk-abcdefghijklmnop1234 rotated': 'Key *** rotated',
    '---': '',
    '': '',
  };
  for (const [answer, title] of Object.entries(titles)) assert.equal(readTitle(answer), title);
});

test('a title has at most 80 characters, and no character that hides or turns text', () => {
  assert.equal([...toTitle('😀'.repeat(100))].length, 80);
  assert.equal(toTitle('one\u202e two\u0000  three'), 'one two three');
});
