import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { systemClock } from '../../clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { DAEMON } from '../sharing/perception.ts';
import { content, memoryLog, roomySink } from '../testing/memory-log.ts';
import { EventLog } from './event-log.ts';

const eventLog = (memory = memoryLog()) => ({
  ...memory,
  events: new EventLog({ store: memory.store, clock: systemClock, log: recordingLog() }),
});
const texts = (written: { event: StreamEvent }[]) =>
  written.map(({ event }) => ('text' in event ? event.text : event.type));
const many = (count: number) => Array.from({ length: count }, (_, n) => content(`${n} `));
const settle = () => new Promise(setImmediate);

test('readers get the appended events of their log in the turn of the commit', () => {
  const { events, append } = eventLog();
  const [a, b] = [roomySink(), roomySink()];
  events.follow('a', 0, { viewer: DAEMON, sink: a.sink });
  events.follow('b', 0, { viewer: DAEMON, sink: b.sink });
  append('a', content('1'), content('2'));
  append('b', content('3'));
  append('a', content('4'));
  assert.deepEqual([texts(a.written), texts(b.written)], [['1', '2', '4'], ['3']]);
});

test('a reader that keeps up gets the events unchanged; one that lags gets adjacent deltas joined', () => {
  const { events, append } = eventLog();
  const [quick, slow] = [roomySink(), roomySink(0)];
  events.follow('a', 0, { viewer: DAEMON, sink: quick.sink });
  const behind = events.follow('a', 0, { viewer: DAEMON, sink: slow.sink });
  append('a', ...many(24));
  slow.state.room = 1;
  behind.resume();
  assert.equal(slow.written.length, 24, 'a little behind is not lagging');
  append('a', ...many(12));
  append('a', ...many(12), { type: 'stream_end' });
  slow.state.room = 1;
  behind.resume();
  assert.deepEqual(
    slow.written.slice(24).map(({ offset, event }) => [offset, event.type]),
    [
      [48, 'content'],
      [49, 'stream_end'],
    ],
  );
  const said = (written: { event: StreamEvent }[]) => texts(written).join('');
  assert.equal(said(slow.written), said(quick.written));
  assert.equal(quick.written.length, 49);
});

test('events that are not in memory are read from the store', async () => {
  const { append, store } = memoryLog();
  append('a', ...many(1_200));
  const events = new EventLog({ store, clock: systemClock, log: recordingLog() });
  const target = roomySink();
  const reader = events.follow('a', 100, { viewer: DAEMON, sink: target.sink });
  for (let n = 0; n < 5; n += 1) await settle();
  assert.equal(reader.offset, 1_200);
  assert.equal(
    texts(target.written).join(''),
    many(1_200)
      .slice(100)
      .map((event) => 'text' in event && event.text)
      .join(''),
  );
});

test('a reader of a log in which nothing happens gets later what could not be read', async () => {
  const { append, store } = memoryLog();
  append('a', ...many(1_200));
  const [clock, log] = [fakeClock(1_000), recordingLog()];
  let isAway = true;
  const away: typeof store = {
    ...store,
    readEvents: (...asked) => (isAway ? Promise.reject(new Error('no disk')) : store.readEvents(...asked)),
  };
  const events = new EventLog({ store: away, clock, log });
  const target = roomySink();
  const reader = events.follow('a', 100, { viewer: DAEMON, sink: target.sink });
  await clock.advance(5_000);
  assert.deepEqual([reader.offset, log.lines.length], [100, 1]);
  isAway = false;
  await clock.advance(1_000);
  for (let n = 0; n < 5; n += 1) await settle();
  assert.equal(reader.offset, 1_200);
});

test('the end of a workstream ends its readers; a later reader starts again', () => {
  const { events, append } = eventLog();
  const ended: string[] = [];
  const target = roomySink();
  events.follow('a', 0, { viewer: DAEMON, sink: target.sink, onEnd: () => void ended.push('a') });
  const closed = events.follow('a', 0, {
    viewer: DAEMON,
    sink: roomySink().sink,
    onEnd: () => void ended.push('closed'),
  });
  closed.close();
  append('a', content('1'));
  events.end('a');
  assert.deepEqual(ended, ['a']);
  append('a', content('2'));
  assert.deepEqual(texts(target.written), ['1']);
});

test('a log that ended since its beginning was read is not followed, and one that began again later is', () => {
  const { events } = eventLog();
  const ended: string[] = [];
  const follow = (wsId: string, since: number) =>
    events.follow(wsId, 0, { viewer: DAEMON, sink: roomySink().sink, onEnd: () => void ended.push(wsId), since });
  const before = events.endings;
  events.end('a');
  follow('a', before).resume();
  follow('b', before);
  const after = events.endings;
  follow('a', after);
  assert.deepEqual(ended, ['a']);
});

test('transient frames are sent to all current readers', () => {
  const { events } = eventLog();
  const [here, gone, elsewhere] = [roomySink(), roomySink(), roomySink()];
  events.follow('a', 0, { viewer: DAEMON, sink: here.sink });
  events.follow('a', 0, { viewer: DAEMON, sink: gone.sink }).close();
  events.follow('b', 0, { viewer: DAEMON, sink: elsewhere.sink });
  events.transient('a', '{}');
  events.transient('c', '{}');
  assert.deepEqual([here.transients, gone.transients, elsewhere.transients], [['{}'], [], []]);
});

test('listeners are called at each commit before readers, until they unsubscribe', () => {
  const { events, append } = eventLog();
  const heard: string[] = [];
  const { sink } = roomySink();
  const write = () => void heard.push('reader');
  events.follow('a', 0, { viewer: DAEMON, sink: { ...sink, write } });
  const leave = events.onAppended((wsId, entries) => void heard.push(`${wsId} ${entries.length} ${entries[0]?.type}`));
  append('a', content('1'), content('2'));
  leave();
  append('a', content('3'));
  assert.deepEqual(heard, ['a 2 content', 'reader', 'reader']);
});
