import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../../protocol/errors.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { readError, writeError } from './carried-error.ts';

const log = recordingLog();

test('an error arrives as it was thrown', () => {
  const thrown = new GatewayError('UNAVAILABLE', 'not now', { retryable: false, retryAfterMs: 5 });
  const { code, message, retryable, retryAfterMs } = Object(readError(writeError(thrown, log)));
  assert.deepEqual([code, message, retryable, retryAfterMs], ['UNAVAILABLE', 'not now', false, 5]);
});

test('a code that only a newer version has becomes one that clients know, with the same words', () => {
  const written = JSON.parse(JSON.stringify({ kind: 'error', code: 'LATER', message: 'why', retryable: false }));
  const { code, message, retryable } = Object(readError(written));
  assert.deepEqual([code, message, retryable], ['UPSTREAM_FAILED', 'why', false]);
});
