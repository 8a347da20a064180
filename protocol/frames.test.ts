import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdempotencyKey, optionalKey } from './frames.ts';

test('a name for a call has no NUL character, with which two keys would be the same one in PostgreSQL', () => {
  for (const key of [IdempotencyKey, optionalKey()]) {
    assert.equal(key.parse('a\ufffd'), 'a\ufffd');
    assert.throws(() => key.parse('a\0'), /must not contain NUL characters/);
  }
  assert.equal(optionalKey().parse(''), undefined);
});
