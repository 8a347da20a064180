import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { systemClock } from '../../clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { audienceOf, gaining } from '../sharing/audience.ts';
import { ANYONE, DAEMON, OF_EVERYONE, type Viewer } from '../sharing/perception.ts';
import { content, memoryLog, roomySink } from '../testing/memory-log.ts';
import { EventLog, type LogStore, type ToldLog } from './event-log.ts';

const settle = async () => {
  for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
};

/** The heads of logs as a store keeps them that several daemons share. */
function sharedHeads(store: LogStore): LogStore & { reads: string[] } {
  const lasts = new Map<string, number>();
  const reads: string[] = [];
  return {
    ...store,
    reads,
    bounds: (wsId) => ({ first: 1, last: lasts.get(wsId) ?? 0 }),
    async readEvents(wsId, after, limit) {
      reads.push(`${wsId} after ${after}`);
      return store.readEvents(wsId, after, limit);
    },
    onCommitted: () => undefined, // this daemon writes nothing
    noteGrowth(wsId, { from, end }) {
      const last = lasts.get(wsId);
      if (last === undefined) return false;
      lasts.set(wsId, Math.max(last, end));
      return from === last + 1;
    },
    async rereadLogs(wsIds) {
      await new Promise(setImmediate);
      for (const wsId of wsIds) lasts.set(wsId, Math.max(lasts.get(wsId) ?? 0, store.bounds(wsId).last));
    },
  };
}

/** A worker, and an active daemon over the same store, which hears what the worker tells while there is a link. */
function workerAndLead() {
  const memory = memoryLog();
  const log = recordingLog();
  const worker = new EventLog({ store: memory.store, clock: systemClock, log });
  const store = sharedHeads(memory.store);
  const lead = new EventLog({ store, clock: systemClock, log });
  const link = { isThere: true };
  const told: ToldLog[] = [];
  worker.onTold((news) => {
    const carried: ToldLog = JSON.parse(JSON.stringify(news));
    told.push(carried);
    if (link.isThere) lead.retell(carried);
  });
  const follow = (wsId: string, { viewer = DAEMON, after = 0 }: { viewer?: Viewer; after?: number } = {}) => {
    const target = roomySink();
    const ends: string[] = [];
    const reader = lead.follow(wsId, after, { viewer, sink: target.sink, onEnd: () => void ends.push(wsId) });
    return { ...target, ends, reader, offsets: () => target.written.map(({ offset }) => offset) };
  };
  return { ...memory, worker, lead, store, link, told, follow };
}

const numbers = (to: number) => Array.from({ length: to }, (_, n) => n + 1);

test('events of a worker reach readers at the active daemon in order, without a read', async () => {
  const { append, lead, store, follow } = workerAndLead();
  await lead.resync(['a', 'b']);
  const [one, two, other] = [follow('a'), follow('a'), follow('b')];
  append('a', content('1'), content('2'));
  append('b', content('x'));
  append('a', content('3'));
  for (const { written } of [one, two])
    assert.deepEqual(
      written.map(({ offset, event }) => [offset, 'text' in event && event.text]),
      [
        [1, '1'],
        [2, '2'],
        [3, '3'],
      ],
    );
  assert.deepEqual([other.offsets(), store.reads], [[1], []]);
});

test('those who listen to appended events hear those of a worker, if somebody reads its log', async () => {
  const { append, lead, follow } = workerAndLead();
  const heard: string[] = [];
  lead.onAppended((wsId, entries) => void heard.push(`${wsId} ${entries.length}`));
  await lead.resync(['a', 'b']);
  follow('a');
  append('a', content('1'), content('2'));
  append('b', content('1'));
  assert.deepEqual(heard, ['a 2']);
});

test('after a gap, readers read what is missing from the store, and then go on', async () => {
  const { append, lead, store, link, follow } = workerAndLead();
  await lead.resync(['a']);
  const target = follow('a');
  append('a', content('1'));
  link.isThere = false;
  append('a', { type: 'stream_end' }, { type: 'thinking_start' });
  link.isThere = true;
  append('a', { type: 'stream_end' });
  await settle();
  assert.deepEqual([target.offsets(), store.reads.length > 0], [numbers(4), true]);
  const reads = store.reads.length;
  append('a', content('5'));
  assert.deepEqual([target.offsets(), store.reads.length], [numbers(5), reads]);
});

test('a log whose end was not known here is read from the store', async () => {
  const { append, lead, follow } = workerAndLead();
  append('a', { type: 'thinking_start' });
  const target = follow('a');
  append('a', { type: 'stream_end' });
  await lead.resync(['a']);
  append('a', { type: 'thinking_start' });
  await settle();
  assert.deepEqual(target.offsets(), numbers(3));
});

test('whoever began to read before a workstream became private begins again', async () => {
  const { lead } = workerAndLead();
  const since = lead.endings;
  lead.retell({
    kind: 'left',
    wsId: 'a',
    terms: gaining({ ownerId: 'ada', visibility: 'private' }, OF_EVERYONE).terms,
  });
  const ends: string[] = [];
  const onEnd = () => void ends.push('ended');
  lead.follow('a', 0, { viewer: DAEMON, sink: roomySink().sink, since, onEnd });
  lead.follow('a', 0, { viewer: DAEMON, sink: roomySink().sink, since: lead.endings, onEnd });
  assert.deepEqual(ends, ['ended']);
});

test('events that are told a second time are written once', async () => {
  const { append, lead, told, follow } = workerAndLead();
  await lead.resync(['a']);
  const target = follow('a');
  append('a', content('1'));
  append('a', { type: 'stream_end' });
  for (const news of [...told]) lead.retell(news);
  await settle();
  append('a', content('3'));
  assert.deepEqual(target.offsets(), numbers(3));
});

test('many events at once, and long tails, reach readers', async () => {
  const { append, lead, follow } = workerAndLead();
  await lead.resync(['a']);
  const target = follow('a');
  const turn: StreamEvent[] = [{ type: 'thinking_start' }, { type: 'stream_end' }];
  for (let n = 0; n < 20; n += 1) append('a', ...turn, ...turn, ...turn, ...turn, ...turn, ...turn, ...turn);
  append('a', ...Array.from({ length: 700 }, () => turn).flat());
  await settle();
  assert.deepEqual(target.offsets(), numbers(20 * 14 + 1_400));
});

test('a reader that comes later gets the events that were told while nobody read', async () => {
  const { append, lead, follow } = workerAndLead();
  await lead.resync(['a']);
  const first = follow('a');
  append('a', { type: 'thinking_start' });
  first.reader.close();
  append('a', { type: 'stream_end' });
  const second = follow('a', { after: 1 });
  append('a', content('3'));
  await settle();
  assert.deepEqual([first.offsets(), second.offsets()], [[1], [2, 3]]);
});

test('after a time without a link, each event is written once, whatever is told meanwhile', async () => {
  const { append, lead, link, follow } = workerAndLead();
  await lead.resync(['a', 'b']);
  const [a, b] = [follow('a'), follow('b')];
  append('a', { type: 'thinking_start' });
  link.isThere = false;
  append('a', { type: 'stream_end' });
  append('b', { type: 'thinking_start' });
  link.isThere = true;
  const resynced = lead.resync(['a', 'b']);
  append('a', { type: 'thinking_start' });
  await resynced;
  await settle();
  append('b', { type: 'stream_end' });
  await settle();
  assert.deepEqual([a.offsets(), b.offsets()], [numbers(3), numbers(2)]);
});

test('transient frames, also those with a key, reach readers at the active daemon', async () => {
  const { append, worker, lead, follow } = workerAndLead();
  await lead.resync(['a']);
  const target = follow('a');
  const slow = follow('a');
  slow.state.room = 0;
  worker.transient('a', '{"n":1}');
  worker.transient('a', '{"n":2}', 'k');
  worker.transient('a', '{"n":3}', 'k');
  assert.deepEqual([target.transients, slow.transients], [['{"n":1}', '{"n":2}', '{"n":3}'], ['{"n":1}']]);
  append('a', content('1'));
  slow.state.room = 2;
  slow.reader.resume();
  assert.deepEqual(slow.transients, ['{"n":1}', '{"n":3}'], 'the latest of each key');
});

test('the end of a log ends its readers at the active daemon, and no later beginning of one that is over', async () => {
  const { append, worker, lead, follow } = workerAndLead();
  await lead.resync(['a', 'b']);
  const [a, b] = [follow('a'), follow('b')];
  const since = lead.endings;
  worker.end('a');
  append('a', content('1'));
  append('b', content('1'));
  assert.deepEqual([a.ends, a.offsets(), b.ends, b.offsets()], [['a'], [], [], [1]]);
  const late: string[] = [];
  lead.follow('a', 0, { viewer: DAEMON, sink: roomySink().sink, onEnd: () => void late.push('a'), since });
  assert.deepEqual(late, ['a']);
});

test('those who no longer perceive a workstream are ended at the active daemon, and others go on', async () => {
  const { append, worker, lead, follow } = workerAndLead();
  await lead.resync(['a']);
  const [ada, stranger] = [
    follow('a', { viewer: { userId: 'ada', permissions: new Set() } }),
    follow('a', { viewer: ANYONE }),
  ];
  append('a', { type: 'thinking_start' });
  worker.endFor('a', audienceOf({ ownerId: 'ada', visibility: 'private' }));
  append('a', { type: 'stream_end' });
  await settle();
  assert.deepEqual([ada.ends, ada.offsets(), stranger.ends, stranger.offsets()], [['a'], [1], [], [1, 2]]);
});

test('a log that is released is read from the store by later readers', async () => {
  const { append, worker, lead, follow } = workerAndLead();
  await lead.resync(['a']);
  const target = follow('a');
  append('a', { type: 'thinking_start' });
  worker.release('a');
  append('a', { type: 'stream_end' });
  const later = follow('a');
  await settle();
  assert.deepEqual([target.ends, target.offsets(), later.offsets()], [[], [1, 2], [1, 2]]);
});

test('what happens to a log is told as data', () => {
  const { append, worker, told } = workerAndLead();
  append('a', content('1'));
  worker.transient('a', '{}', 'k');
  worker.endFor('a', audienceOf({ ownerId: 'ada', visibility: 'private' }));
  assert.deepEqual(told, [
    { kind: 'events', wsId: 'a', events: [{ offset: 1, json: JSON.stringify(content('1')) }] },
    { kind: 'transient', wsId: 'a', json: '{}', key: 'k' },
    { kind: 'left', wsId: 'a', terms: { now: { ownerId: 'ada', visibility: 'private' } } },
    { kind: 'released', wsId: 'a' },
  ]);
});
