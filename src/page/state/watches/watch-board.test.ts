import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import type { Watch } from '../../../../protocol/events/watch.ts';
import { createFakeClient } from '../fake-client.ts';
import { WatchBoard } from './watch-board.ts';

const WATCH: Watch = {
  ...{ watch_id: 'wat_1', ws_id: 'w1', node_id: 'box', name: 'queue', command: 'wc -l queue', interval_secs: 60 },
  ...{ stop_on: '', max_polls: 100, poll_count: 3, missed_polls: 0, last_output: '7', last_exit_code: 0 },
  ...{ last_poll: '', next_poll: '', active: 1, created: '', created_by: '', updated: '' },
};
const other = { ...WATCH, watch_id: 'wat_2' };
const ended: Watch = { ...WATCH, active: 0, end: 'cancelled' };

function opened() {
  const fake = createFakeClient();
  fake.answer('watch.list', ({ ended: all }) => ({ watches: all ? [other, WATCH] : [WATCH] }));
  const changed = signal<Watch | undefined>(ended);
  return { ...fake, changed, board: new WatchBoard({ client: fake.client, changed }) };
}

test('a watch that changes while the list is shown is replaced in it, and a new one comes first', async () => {
  const { board, changed } = opened();
  const stop = board.follow();
  await board.read();
  assert.deepEqual(board.watches.value, [WATCH]); // not the change from before
  changed.value = other;
  changed.value = { ...WATCH, last_output: '8' };
  assert.deepEqual(board.watches.value, [other, { ...WATCH, last_output: '8' }]);
  stop();
  changed.value = { ...WATCH, last_output: '9' };
  assert.deepEqual(board.watches.value, [other, { ...WATCH, last_output: '8' }]);
});

test('the list is read again with each tick, with those that have ended if they are asked for', async () => {
  const { board, emit, calls } = opened();
  board.follow();
  await board.read(true);
  assert.deepEqual([board.watches.value, board.withEnded.value], [[other, WATCH], true]);
  emit('tick', {});
  assert.deepEqual(calls.at(-1), ['watch.list', { ended: true }]);
});

test('a cancelled watch stays in the list with its end; after a refusal the list is read again', async () => {
  const { board, answer, calls } = opened();
  await board.read();
  answer('watch.cancel', () => ({ cancelled: true, watch: ended }));
  assert.equal(await board.cancel('wat_1'), undefined);
  assert.deepEqual(board.watches.value, [ended]);
  answer('watch.cancel', () => {
    throw new Error('Watch not found');
  });
  assert.equal(await board.cancel('wat_1'), 'Watch not found');
  assert.equal(calls.filter(([method]) => method === 'watch.list').length, 2);
});

test('the board of one workstream asks for its watches only, and keeps no others', async () => {
  const { client, answer, calls } = createFakeClient();
  answer('watch.list', () => ({ watches: [] }));
  const changed = signal<Watch | undefined>(undefined);
  const board = new WatchBoard({ client, changed, wsId: 'w1' });
  board.follow();
  await board.read();
  changed.value = { ...WATCH, ws_id: 'w2' };
  changed.value = other;
  assert.deepEqual([calls[0], board.watches.value], [['watch.list', { wsId: 'w1' }], [other]]);
});
