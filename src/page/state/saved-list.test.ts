import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../protocol/client/request-error.ts';
import { createFakeClient } from './fake-client.ts';
import { SavedList, type SavedRow, savedName } from './saved-list.ts';

const row = (wsId: string, more: Partial<SavedRow> = {}): SavedRow => ({
  wsId,
  loaded: false,
  alias: null,
  name: `ws-${wsId}`,
  title: null,
  createdMs: 1,
  updatedMs: 7,
  userId: '',
  visibility: 'shared',
  messageCount: 1,
  state: 'idle',
  modelAlias: 'demo',
  contextTokens: 0,
  contextRatio: 0,
  ...more,
});
const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => row(`w${from + index}`));

function open() {
  const fake = createFakeClient();
  const list = new SavedList(fake.client);
  const ids = () => list.listing.value?.rows.map(({ wsId }) => wsId);
  return { ...fake, list, ids };
}

test('each page continues after the last row, until a page is not full', async () => {
  const { list, answer, calls } = open();
  answer('workstream.saved', ({ before }: { before?: number }) => ({
    workstreams: before === undefined ? rows(0, 50) : rows(49, 3),
  }));
  await list.search('');
  assert.deepEqual([list.listing.value?.rows.length, list.listing.value?.hasMore], [50, true]);
  await list.more();
  assert.deepEqual([list.listing.value?.rows.length, list.listing.value?.hasMore], [52, false], 'none twice');
  await list.more();
  await list.search('', { userId: '' });
  await list.more();
  assert.deepEqual(calls, [
    ['workstream.saved', { limit: 50 }],
    ['workstream.saved', { limit: 50, before: 7, beforeWsId: 'w49' }],
    ['workstream.saved', { limit: 50, userId: '' }],
    ['workstream.saved', { limit: 50, userId: '', before: 7, beforeWsId: 'w49' }],
  ]);
});

test('a late answer to an earlier search does not replace the current results', async () => {
  const { list, answer, ids } = open();
  const slow = Promise.withResolvers<void>();
  answer('workstream.saved', async ({ search }: { search?: string }) => {
    if (search === 'slow') await slow.promise;
    return { workstreams: [row(search ?? 'all')] };
  });
  const first = list.search('slow');
  await list.search('fast');
  slow.resolve();
  await first;
  assert.deepEqual(ids(), ['fast']);
});

test('a renamed row shows its new name; a refusal shows the reason', async () => {
  const { list, answer } = open();
  answer('workstream.saved', () => ({ workstreams: [row('a', { title: 'Herbs' })] }));
  await list.search('');
  answer('workstream.update', ({ name }: { name: string }) => {
    if (name === 'taken') throw new RequestError('CONFLICT', 'That name is already used by another workstream');
    return { name };
  });
  const [shown] = list.listing.value?.rows ?? [];
  assert.ok(shown);
  assert.equal(savedName(shown), 'Herbs');
  assert.equal(await list.rename(shown, 'taken'), 'That name is already used by another workstream');
  assert.equal(await list.rename(shown, 'garden'), undefined);
  assert.deepEqual(list.listing.value?.rows.map(savedName), ['garden']);
});

test('a failed read shows the reason and keeps the old list', async () => {
  const { list, answer, ids } = open();
  answer('workstream.saved', () => ({ workstreams: [row('a')] }));
  await list.search('');
  answer('workstream.saved', () => {
    throw new RequestError('UNAVAILABLE', 'try later');
  });
  await list.search('x');
  assert.deepEqual([ids(), list.reading.problem.value], [['a'], 'try later']);
});

test('a deleted row disappears; a refusal keeps it and shows the reason', async () => {
  const { list, answer, calls, ids } = open();
  answer('workstream.saved', () => ({ workstreams: [row('a'), row('b')] }));
  await list.search('');
  const [first] = list.listing.value?.rows ?? [];
  assert.ok(first);
  answer('sessions.delete', () => {
    throw new RequestError('INVALID_REQUEST', 'Cannot delete the main session (main).');
  });
  assert.equal(await list.remove(first), 'Cannot delete the main session (main).');
  assert.deepEqual(ids(), ['a', 'b']);
  answer('sessions.delete', () => ({ ok: true, key: 'a', deleted: true, archived: [] }));
  assert.equal(await list.remove(first), undefined);
  assert.deepEqual([ids(), calls.at(-1)], [['b'], ['sessions.delete', { key: 'a', deleteTranscript: true }]]);
});
