import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toSafeText } from './safe-text.ts';

const ESC = '\u001b';

test('control sequences are removed, and the text stays', () => {
  const printed = `${ESC}[31mred${ESC}[0m ${ESC}]0;title\u0007${ESC}[2J${ESC}[1;1Hhome\u0007\u009b5n`;
  assert.equal(toSafeText(printed), 'red home');
});

test('no output of a program can control the terminal', () => {
  const pieces = fc.constantFrom(
    ESC,
    '\u009b',
    '\u009d',
    '\u0090',
    '[',
    ']',
    ';',
    '0',
    'm',
    'c',
    '\u0007',
    '\\',
    '\b',
    '\r',
    'a',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them.
      assert.doesNotMatch(toSafeText(parts.join('')), /[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
    }),
  );
});

test('characters that change the writing direction are removed', () => {
  assert.equal(toSafeText('safe\u202egpj.exe\u2066'), 'safegpj.exe');
});

test('a progress bar shows its last state, a tab reaches its stop', () => {
  assert.equal(toSafeText('10 %\r50 %\r100 %\r\nab\tc\n\td'), '100 %\nab      c\n        d');
});

test('a long line takes linear time', () => {
  const line = 'x'.repeat(1_000_000);
  assert.equal(toSafeText(line), line);
});
