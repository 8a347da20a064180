import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { createRevocations } from './revocations.ts';

test('all watchers of a credential are notified of its end, former watchers are not', () => {
  const revocation = new AbortController();
  const { watch, unwatch } = createRevocations();
  const told: string[] = [];
  const holders = ['a', 'b', 'c'].map((name) => ({ onCredentialEnded: () => void told.push(name) }));
  for (const holder of holders) watch(revocation.signal, holder);
  unwatch(revocation.signal, holders[1] ?? assert.fail());
  revocation.abort();
  assert.deepEqual(told, ['a', 'c']);
});

test('a thousand connections of one credential cost one listener', () => {
  const { signal } = new AbortController();
  const { watch } = createRevocations();
  for (let i = 0; i < 1_000; i++) watch(signal, { onCredentialEnded: () => undefined });
  assert.equal(getEventListeners(signal, 'abort').length, 1);
});

test('a watcher after the end is notified at once', () => {
  const told: string[] = [];
  createRevocations().watch(AbortSignal.abort(), { onCredentialEnded: () => void told.push('now') });
  assert.deepEqual(told, ['now']);
});
