import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { createRevocations } from './revocations.ts';

test('all watchers of a credential are notified of its end, former watchers are not', () => {
  const revocation = new AbortController();
  const { watch } = createRevocations();
  const told: string[] = [];
  watch(revocation.signal, () => told.push('a'));
  const letGo = watch(revocation.signal, () => told.push('b'));
  watch(revocation.signal, () => told.push('c'));
  letGo();
  revocation.abort();
  assert.deepEqual(told, ['a', 'c']);
});

test('a thousand connections of one credential cost one listener', () => {
  const { signal } = new AbortController();
  const { watch } = createRevocations();
  for (let i = 0; i < 1_000; i++) watch(signal, () => undefined);
  assert.equal(getEventListeners(signal, 'abort').length, 1);
});

test('a watcher after the end is notified at once', () => {
  const told: string[] = [];
  createRevocations().watch(AbortSignal.abort(), () => told.push('now'));
  assert.deepEqual(told, ['now']);
});
