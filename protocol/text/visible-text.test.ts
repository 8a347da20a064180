import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toVisibleLine, toVisibleText } from './visible-text.ts';

test('invisible characters are written out', () => {
  const cases = {
    'rm \u202egpj.sh': 'rm \\u202egpj.sh',
    'a\u200bb\u200db\ufeffc\u00add': 'a\\u200bb\\u200db\\ufeffc\\u00add',
    '\u001b[2Jgone\u0007': '\\u001b[2Jgone\\u0007',
    'x\r\ny\u0000\u009b': 'x\\u000d\ny\\u0000\\u009b',
    'tag\u{e0041}\u{e0101}': 'tag\\u{e0041}\\u{e0101}',
    'fill\u3164\u115f\u2800\u034f': 'fill\\u3164\\u115f\\u2800\\u034f',
    'line\u2028sep\u2029': 'line\\u2028sep\\u2029',
    '\u2066iso\u2069\u061c': '\\u2066iso\\u2069\\u061c',
    'lone \ud800 surrogate': 'lone \\ud800 surrogate',
  };
  for (const [text, visible] of Object.entries(cases)) assert.equal(toVisibleText(text), visible);
});

test('ordinary text in any script, emoji, tabs and line ends stay unchanged', () => {
  const text = 'Ümläut 漢字 عربى עברית e\u0301 ❤\ufe0f 👍🏽\n\tindented €𝄞';
  assert.equal(toVisibleText(text), text);
});

test('at most four combining marks of a character stay, so that they cannot cover other characters', () => {
  const text = `a${'\u0301'.repeat(7)}b\u0302`;
  assert.equal(toVisibleText(text), `a${'\u0301'.repeat(4)}${'\\u0301'.repeat(3)}b\u0302`);
  assert.equal(toVisibleText(toVisibleText(text)), toVisibleText(text));
});

test('in a single line, line ends and tabs are written out, too', () => {
  assert.equal(toVisibleLine('a\n\tb'), 'a\\n\\tb');
});
