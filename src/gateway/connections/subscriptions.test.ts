import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEntry, Sink } from '../events/log-reader.ts';
import { OF_EVERYONE } from '../sharing/perception.ts';
import { createSubscriptions } from './subscriptions.ts';

const entry = (offset: number, text: string): LogEntry => ({
  offset,
  json: text,
  type: 'content',
  sse: () => assert.fail('not for a WebSocket'),
  wsFrame: () => Buffer.from(text),
});

/** A moment before the end of every log. */
const ENDED = -1;

const shared = (wsId: string) => ({ wsId, ...OF_EVERYONE });

function setUp() {
  const seen: string[] = [];
  const readers = new Map<string, { sink: Sink; onEnd?: (() => void) | undefined }>();
  const room = { left: 100 };
  const subscriptions = createSubscriptions({
    viewer: { userId: 'bob', permissions: new Set() },
    follow(wsId, after, stream) {
      seen.push(`follow ${wsId} after ${after}`);
      if (stream.since === ENDED) stream.onEnd?.();
      readers.set(wsId, stream);
      return {
        offset: after,
        resume() {
          seen.push(`resume ${wsId}`);
          room.left -= 1;
        },
        close: () => void seen.push(`close ${wsId}`),
      };
    },
    outbox: { isReady: () => room.left > 0, push: (frame) => void seen.push(`push ${frame}`) },
    watching: {
      watch: (wsId) => void seen.push(`watch ${wsId}`),
      unwatch: (wsId) => void seen.push(`unwatch ${wsId}`),
    },
  });
  const subscribe = (wsId: string, after: number) => {
    const request = subscriptions.during();
    request.add(shared(wsId), after);
    request.start();
  };
  return { seen, readers, room, subscriptions, subscribe, clear: () => void seen.splice(0) };
}

test('a log is followed only after the request was answered', () => {
  const { seen, subscriptions } = setUp();
  const request = subscriptions.during();
  request.add(shared('a'), 7);
  assert.deepEqual(seen, []);
  request.start();
  assert.deepEqual(seen, ['follow a after 7', 'watch a']);
});

test('a workstream that was closed since it was looked up is not watched', () => {
  const { seen, subscriptions } = setUp();
  const request = subscriptions.during();
  request.add(shared('a'), 7, ENDED);
  request.start();
  subscriptions.resume();
  assert.deepEqual(seen, ['follow a after 7', 'unwatch a']);
});

test('what was followed before a request that is refused goes on where it was', () => {
  const { seen, subscriptions, subscribe, clear } = setUp();
  subscribe('a', 7);
  clear();
  const request = subscriptions.during();
  request.add(shared('a'), 0);
  request.add(shared('b'), 0);
  request.takeBack();
  assert.deepEqual(seen, ['close a', 'follow a after 7', 'watch a']);
});

test('a failed request follows nothing', () => {
  const { seen, subscriptions } = setUp();
  subscriptions.during().add(shared('a'), 7);
  subscriptions.during().start();
  assert.deepEqual(seen, []);
});

test('entries are sent as frames that all readers share', () => {
  const { seen, readers, subscribe, clear } = setUp();
  subscribe('a', 0);
  clear();
  readers.get('a')?.sink.write([entry(1, 'one'), entry(2, 'two')]);
  assert.deepEqual(seen, ['push one', 'push two']);
});

test('a second subscription replaces the first, which stops at the request', () => {
  const { seen, subscriptions, subscribe, clear } = setUp();
  subscribe('a', 7);
  clear();
  const request = subscriptions.during();
  request.add(shared('a'), 3);
  assert.deepEqual(seen, ['close a']);
  request.start();
  assert.deepEqual(seen, ['close a', 'follow a after 3', 'watch a']);
});

test('two requests for one workstream at once leave one reader', () => {
  const { seen, subscriptions } = setUp();
  const [first, second] = [subscriptions.during(), subscriptions.during()];
  first.add(shared('a'), 1);
  second.add(shared('a'), 2);
  first.start();
  second.start();
  assert.deepEqual(seen, ['follow a after 1', 'watch a', 'close a', 'follow a after 2', 'watch a']);
});

test('remove returns whether there was a subscription', () => {
  const { seen, subscriptions, subscribe, clear } = setUp();
  subscribe('a', 0);
  clear();
  const request = subscriptions.during();
  assert.deepEqual([request.remove('a'), request.remove('a')], [true, false]);
  assert.deepEqual(seen, ['close a', 'unwatch a']);
});

test('a workstream that a request adds and removes is not followed', () => {
  const { seen, subscriptions } = setUp();
  const request = subscriptions.during();
  request.add(shared('a'), 0);
  assert.equal(request.remove('a'), true);
  request.start();
  assert.deepEqual(seen, []);
});

test('a closed workstream ends its subscription', () => {
  const { seen, readers, subscriptions, subscribe, clear } = setUp();
  subscribe('a', 0);
  clear();
  readers.get('a')?.onEnd?.();
  assert.equal(subscriptions.during().remove('a'), false);
  assert.deepEqual(seen, ['close a', 'unwatch a']);
});

test('the end of a reader that was replaced does not end the new one', () => {
  const { readers, subscriptions, subscribe } = setUp();
  subscribe('a', 0);
  const old = readers.get('a');
  subscribe('a', 5);
  old?.onEnd?.();
  assert.equal(subscriptions.during().remove('a'), true);
});

test('when there is room again every reader gets its turn, however small the room', () => {
  const { seen, room, subscriptions, subscribe, clear } = setUp();
  for (const wsId of ['a', 'b', 'c']) subscribe(wsId, 0);
  clear();
  for (let i = 0; i < 3; i++) {
    room.left = 2;
    subscriptions.resume();
  }
  assert.deepEqual(seen, ['resume a', 'resume b', 'resume c', 'resume a', 'resume b', 'resume c']);
});

test('the end of a connection closes all readers, and a late answer opens none', () => {
  const { seen, subscriptions, subscribe, clear } = setUp();
  subscribe('a', 0);
  const late = subscriptions.during();
  late.add(shared('b'), 0);
  clear();
  subscriptions.close();
  late.start();
  assert.deepEqual(seen, ['close a']);
});

test('a workstream that became private before the answer was sent is not followed', () => {
  const { seen, subscriptions } = setUp();
  const request = subscriptions.during();
  const data: { wsId: string; ownerId: string; visibility: 'shared' | 'private' } = shared('a');
  request.add(data, 7);
  data.visibility = 'private';
  request.start();
  assert.deepEqual(seen, ['unwatch a']);
});
