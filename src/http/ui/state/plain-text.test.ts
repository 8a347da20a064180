import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepTail, toPlainText } from './plain-text.ts';

const ESC = '\u001b';

test('colours, cursor moves, titles and links leave only their text', () => {
  const printed = `${ESC}[1;31mred${ESC}[0m ${ESC}]0;title\u0007${ESC}]8;;http://x${ESC}\\link${ESC}]8;;${ESC}\\ ${ESC}[2K${ESC}(Bend`;
  assert.equal(toPlainText(printed), 'red link end');
});

test('a line that was drawn over keeps its last state', () => {
  assert.equal(toPlainText('10 %\r50 %\r100 %\nnext\r\n'), '100 %\nnext\n');
});

test('one long line without an end costs its length, not its square', () => {
  const line = 'x'.repeat(1_000_000);
  assert.equal(toPlainText(line), line);
});

test('bells and backspaces go, tabs and line ends stay', () => {
  assert.equal(toPlainText('a\u0007\tb\u0008\nc'), 'a\tb\nc');
});

test('a tail begins at a line when one is near, and says what it dropped', () => {
  assert.deepEqual(keepTail('first\nsecond\nthird', 9), { text: 'third', dropped: 13 });
  assert.deepEqual(keepTail('short', 9), { text: 'short', dropped: 0 });
  assert.deepEqual(keepTail('x'.repeat(20), 9), { text: 'x'.repeat(9), dropped: 11 });
});
