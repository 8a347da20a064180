import assert from 'node:assert/strict';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { widthOf } from './width.ts';

test('every character that is measured without the tables takes one column in them, too', () => {
  const plain = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).filter(
    (sign) => widthOf(sign) !== stringWidth(sign),
  );
  assert.deepEqual(plain, []);
});

test('styles, wide characters, clusters and combining marks are measured as a terminal shows them', () => {
  assert.deepEqual(
    ['\x1b[1;36m› ok\x1b[39m', '日本', '👩‍👩‍👧', 'e\u0301', 'שלום', '\x1b]8;;x\x07a\x1b]8;;\x07'].map(widthOf),
    [4, 4, 2, 1, 4, 1],
  );
});
