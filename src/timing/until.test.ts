import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { until } from './until.ts';

const never = () => new Promise<never>(() => undefined);

test('the promise’s value or error passes through, and no listener is left', async () => {
  const { signal } = new AbortController();
  assert.equal(await until(Promise.resolve(7), signal), 7);
  await assert.rejects(until(Promise.reject(new Error('failed')), signal), /failed/);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('an abort ends the wait with its reason, before and during it', async () => {
  const stop = new AbortController();
  const waiting = until(never(), stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(until(never(), stop.signal), /enough/);
  assert.deepEqual(getEventListeners(stop.signal, 'abort'), []);
});
