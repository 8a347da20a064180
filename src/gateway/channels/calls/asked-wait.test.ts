import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedWaitMs } from './asked-wait.ts';

test('a wait is a positive number of seconds, and at most a day', () => {
  const asked = [
    7,
    '7',
    0.5,
    1e9,
    '1e400',
    0,
    -5,
    '',
    'abc',
    'Wed, 21 Oct 2026 07:28:00 GMT',
    null,
    undefined,
    [7],
    {},
  ];
  assert.deepEqual(asked.map(askedWaitMs), [
    7_000,
    7_000,
    500,
    86_400_000,
    86_400_000,
    ...Array<undefined>(9).fill(undefined),
  ]);
});
