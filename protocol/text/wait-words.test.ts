import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ModelWait, toWaitLine, toWaitText } from './wait-words.ts';

const wait: ModelWait = {
  reason: 'rate_limited',
  message: 'openai answered 429: slow down',
  until_ms: 200_000,
  attempt: 2,
  attempts: 6,
  model_alias: 'fast',
};

test('a wait is shown with its reason, the time that is left, and the attempt that follows', () => {
  const texts = [188_000, 188_001, 20_000, 199_999, 200_000, 300_000].map((nowMs) => toWaitText(wait, nowMs));
  assert.deepEqual(texts, [
    'fast is at its rate limit. Next attempt in 12 s (2 of 6).',
    'fast is at its rate limit. Next attempt in 12 s (2 of 6).',
    'fast is at its rate limit. Next attempt in 3 min (2 of 6).',
    'fast is at its rate limit. Next attempt in 1 s (2 of 6).',
    'fast is at its rate limit. Next attempt now (2 of 6).',
    'fast is at its rate limit. Next attempt now (2 of 6).',
  ]);
  assert.equal(
    toWaitText({ ...wait, reason: 'overloaded', until_ms: 65_000 }, 0),
    'fast is overloaded. Next attempt in 1 min 5 s (2 of 6).',
  );
});

test('a wait in output that does not change later is shown with its time', () => {
  const time = new Date(wait.until_ms).toLocaleTimeString('en-GB');
  assert.match(time, /^\d\d:\d\d:20$/);
  assert.equal(toWaitLine(wait), `fast is at its rate limit. Next attempt at ${time} (2 of 6).`);
});
