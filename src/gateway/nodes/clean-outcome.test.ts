import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanOutcome } from './clean-outcome.ts';

const clean = (text: string) => text.replaceAll('geheim-1234', '[REDACTED]').replaceAll('\u001b', '\\u001b');

test('an error of a node is cleaned before it is shortened, so that no part of a secret remains', () => {
  const { kind, ...rest } = cleanOutcome(
    { kind: 'error', code: 'NOT_FOUND', message: `${'z'.repeat(1_995)}geheim-1234` },
    clean,
  );
  assert.deepEqual([kind, rest], ['error', { code: 'NOT_FOUND', message: `${'z'.repeat(1_995)}[REDA` }]);
});

test('the error code of a node is cleaned like its message', () => {
  const outcome = cleanOutcome({ kind: 'error', code: '\u001b[2J geheim-1234', message: 'x' }, clean);
  assert.deepEqual(outcome, { kind: 'error', code: '\\u001b[2J [REDACTED]', message: 'x' });
});

test('shortening never leaves half of a character', () => {
  const outcome = cleanOutcome({ kind: 'error', code: 'X', message: `${'z'.repeat(1_999)}😀` }, clean);
  assert.deepEqual(outcome, { kind: 'error', code: 'X', message: `${'z'.repeat(1_999)}\u{fffd}` });
});

for (const [what, payloadJSON, expected] of [
  ['numbers and spaces stay as they were sent', '{ "id": 12345678901234567890, "far": 1e999 }', undefined],
  ['a secret is replaced', '["geheim-1234"]', '["[REDACTED]"]'],
  ['a secret in escapes is replaced', '["\\u0067eheim-1234"]', '["[REDACTED]"]'],
  ['a name that occurs twice hides nothing', '{"a":"\\u0067eheim-1234","a":1}', '{"a":1}'],
] as const) {
  test(`in JSON text of a node, ${what}`, () => {
    const outcome = cleanOutcome({ kind: 'ok', payload: null, payloadJSON }, clean);
    assert.deepEqual(outcome, { kind: 'ok', payload: null, payloadJSON: expected ?? payloadJSON });
  });
}
