import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainName, PlainText, toPlainName } from './plain-text.ts';

const REFUSED = [
  '\0',
  '\x1b',
  '\r',
  '\x7f',
  '\x80',
  '\x9b',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
];

test('texts may contain newlines and tabs, names neither', () => {
  assert.equal(PlainText.safeParse('a\nb\tc').success, true);
  assert.deepEqual([isPlainName('a b'), isPlainName('a\nb'), isPlainName('a\tb')], [true, false, false]);
});

test('neither may contain other control characters or characters that change the writing direction', () => {
  for (const character of REFUSED) {
    const text = `a${character}b`;
    assert.deepEqual([PlainText.safeParse(text).success, isPlainName(text)], [false, false], JSON.stringify(text));
  }
});

test('letters of every script, marks and emoji are plain', () => {
  for (const text of ['café', 'שלום', 'مرحبا\u200f', 'می\u200cخواهم', '👩\u200d💻', 'é', '']) {
    assert.deepEqual([PlainText.safeParse(text).success, isPlainName(text)], [true, true], text);
  }
});

test('a name made from any text has spaces in place of forbidden characters', () => {
  assert.equal(toPlainName(' a \x1b\x1b b\u202e\nc\t'), 'a b c');
});
