import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toMoment } from './moment.ts';

const MINUTE = 60_000;
const now = Date.UTC(2026, 6, 15, 12);

test('a moment is told as people say it', () => {
  const told = [-5, 0, 1, 59, 61, 24 * 60, 3 * 24 * 60, 30 * 24 * 60].map((minutes) =>
    toMoment(now - minutes * MINUTE, now, 'en'),
  );
  assert.deepEqual(told, [
    ...['just now', 'just now', '1 minute ago', '59 minutes ago', '1 hour ago'],
    ...['yesterday', '3 days ago', 'Jun 15, 2026'],
  ]);
});
