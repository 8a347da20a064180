import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFormattedText } from './markdown-pieces.ts';

test('a paragraph has as many pieces as it needs', () => {
  const { pieces, blocks } = toFormattedText('*a*\n'.repeat(70_000));
  assert.deepEqual([pieces.length, blocks], [140_000 - 1, [0]]);
});
