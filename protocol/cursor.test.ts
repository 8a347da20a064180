import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCursor, parseCursor } from './cursor.ts';

test('a formatted cursor is parsed back', () => {
  const cursor = { epoch: 'b3VtZQ_-', offset: 41 };
  assert.equal(formatCursor(cursor), 'b3VtZQ_-:41');
  assert.deepEqual(parseCursor('b3VtZQ_-:41'), cursor);
});

test('a malformed cursor counts as absent', () => {
  const texts = [
    undefined,
    '',
    '41',
    ':41',
    'e:',
    'e:-1',
    'e:1.5',
    'e:1e3',
    'e: 1',
    'e:1 ',
    'e:1\n',
    'a b:1',
    `${'e'.repeat(33)}:1`,
    `e:${'9'.repeat(16)}`,
  ];
  assert.deepEqual(
    texts.filter((text) => parseCursor(text) !== undefined),
    [],
  );
});
