import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { createFakeClient } from '../fake-client.ts';
import { Viewers } from './viewers.ts';

const settled = () => new Promise(setImmediate);

test('the page tells which workstream it shows, again after a lost connection, and knows who sees it', async () => {
  const { client, answer, emit, isOpen, calls } = createFakeClient();
  answer('events.view', ({ wsId }: { wsId?: string }) => ({ userIds: wsId === undefined ? [] : ['user_ada', wsId] }));
  const seen = signal<string | undefined>(undefined);
  const viewers = new Viewers({ client, seen });
  const told = () => calls.splice(0).map(([, params]) => params);
  assert.deepEqual(told(), []);
  seen.value = 'w';
  await settled();
  assert.deepEqual([told(), viewers.userIds.value], [[{ wsId: 'w' }], ['user_ada', 'w']]);
  emit('workstream.viewers', { wsId: 'x', userIds: [] });
  emit('workstream.viewers', { wsId: 'w', userIds: ['user_bob'] });
  assert.deepEqual(viewers.userIds.value, ['user_bob']);
  isOpen.value = false;
  isOpen.value = true;
  assert.deepEqual(told(), [{ wsId: 'w' }]);
  await settled();
  seen.value = undefined;
  await settled();
  assert.deepEqual([told(), viewers.userIds.value], [[{}], []]);
  isOpen.value = false;
  isOpen.value = true;
  viewers.stop();
  seen.value = 'w';
  assert.deepEqual(told(), []);
});

test('an answer about a workstream that is no longer shown counts for nothing', async () => {
  const { client, answer } = createFakeClient();
  const { promise, resolve } = Promise.withResolvers<void>();
  answer('events.view', async ({ wsId }: { wsId?: string }) => {
    if (wsId === 'slow') await promise;
    return { userIds: [wsId] };
  });
  const seen = signal<string | undefined>('slow');
  const viewers = new Viewers({ client, seen });
  seen.value = 'quick';
  await settled();
  resolve();
  await settled();
  assert.deepEqual(viewers.userIds.value, ['quick']);
});
