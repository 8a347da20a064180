import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import type { GlobalEvent, GlobalEventOf } from '../../../protocol/events/global.ts';
import type { WorkstreamState } from '../../../protocol/stream-events.ts';
import type { LogEntry, Sink } from '../../gateway/events/log-reader.ts';
import { ANYONE } from '../../gateway/sharing/perception.ts';
import type { EventStreams } from '../../gateway/streams/event-streams.ts';
import type { GlobalListener } from '../../gateway/streams/global-events.ts';
import { httpEdge, principalWith } from '../../testing/http-edge.ts';
import { readText } from '../../testing/read-text.ts';
import { untilTrue } from '../../testing/until-true.ts';

const READ = { authorization: 'Bearer read' };
const entry = (offset: number, json: string): LogEntry => ({
  ...{ offset, json, type: 'content' },
  sse: () => `id: e:${offset}\ndata: ${json}\n\n`,
  wsFrame: () => Buffer.alloc(0),
});

const stateOf = (ws_id: string, state: WorkstreamState, content?: string): GlobalEventOf<'ws_state'> => ({
  ...{ type: 'ws_state', ws_id, state, tokens: 0, context_ratio: 0, activity: '', activity_state: '' },
  ...(content !== undefined && { content }),
});
const framesOf = (...events: GlobalEvent[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** Streams that the test controls completely. */
function fakeStreams(hold: Promise<void> = Promise.resolve()) {
  const followed: { sink: Sink; onEnd(): void; after: number; resumed: number; isClosed: boolean }[] = [];
  const opened: unknown[] = [];
  const listeners = new Set<GlobalListener>();
  const streams: EventStreams = {
    async open(wsId, { viewer: _, ...request }) {
      opened.push({ wsId, ...request });
      if (wsId !== 'ws-1') throw new GatewayError('NOT_FOUND', 'Unknown workstream');
      const begin = async () => {
        await hold;
        return { frames: [{ id: 'e:7', json: '{"type":"history"}' }], after: 7 };
      };
      return { connected: '{"type":"connected"}', since: 0, begin };
    },
    follow(_wsId, after, { sink, onEnd }) {
      const state = { sink, onEnd, after, resumed: 0, isClosed: false };
      followed.push(state);
      return {
        offset: after,
        resume: () => void state.resumed++,
        close: () => {
          state.isClosed = true;
        },
      };
    },
    states: () => [stateOf('a', 'idle'), stateOf('b', 'idle')],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const change: GlobalListener['onEvent'] = (event) => {
    for (const { onEvent } of listeners) onEvent(event);
  };
  return { streams, followed, opened, listeners, change };
}

const OPENING = 'retry: 1000\ndata: {"type":"connected"}\n\nid: e:7\ndata: {"type":"history","ws_id":"ws-1"}\n\n';

test('a stream begins with connected and history, then follows the log from there', async () => {
  const fake = fakeStreams();
  await using edge = await httpEdge({ streams: fake.streams });
  const res = await edge.open({ path: '/v1/api/events?ws_id=ws-1', headers: READ });
  const { date: _date, connection: _connection, ...headers } = res.headers;
  assert.deepEqual(headers, {
    'access-control-allow-origin': '*',
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'transfer-encoding': 'chunked',
    'x-request-id': 'edge-1',
  });
  assert.equal(await readText(res, OPENING.length), OPENING);
  assert.equal(fake.followed[0]?.after, 7);
  fake.followed[0]?.sink.write([entry(8, '{"n":8}'), entry(9, '{"n":9}')]);
  fake.followed[0]?.sink.transient?.('{"type":"busy_error"}');
  const live = 'id: e:8\ndata: {"n":8}\n\nid: e:9\ndata: {"n":9}\n\ndata: {"type":"busy_error","ws_id":"ws-1"}\n\n';
  assert.equal(await readText(res, live.length), live);
  assert.deepEqual(edge.counted, [
    ['sse', 1],
    ['GET', '/v1/api/events', 200],
  ]);
});

test('connected is sent at once although the history waits; a client that disconnects meanwhile gets no reader', async () => {
  const hold = Promise.withResolvers<void>();
  const fake = fakeStreams(hold.promise);
  await using edge = await httpEdge({ streams: fake.streams });
  const request = { path: '/v1/api/events?ws_id=ws-1', headers: READ };
  const [res, left] = [await edge.open(request), await edge.open(request)];
  const connected = OPENING.slice(0, OPENING.indexOf('id:'));
  assert.equal(await readText(res, 1), connected);
  left.destroy();
  await untilTrue(() => edge.counted.some((entry) => Array.isArray(entry) && entry[1] === -1));
  hold.resolve();
  assert.equal(await readText(res, 1), OPENING.slice(connected.length));
  assert.equal(fake.followed.length, 1);
});

test('the Last-Event-ID header counts only with resume=1', async () => {
  const fake = fakeStreams();
  await using edge = await httpEdge({ streams: fake.streams });
  const headers = { ...READ, 'last-event-id': 'e:5' };
  for (const flags of ['', '&resume=1', '&resume=0', '&resume=1&snapshot=1']) {
    await edge.open({ path: `/v1/api/events?ws_id=ws-1${flags}`, headers });
  }
  const wsId = 'ws-1';
  assert.deepEqual(fake.opened, [
    { wsId, resume: false, snapshot: false },
    { wsId, lastEventId: 'e:5', resume: true, snapshot: false },
    { wsId, resume: false, snapshot: false },
    { wsId, lastEventId: 'e:5', resume: true, snapshot: true },
  ]);
});

test('a stream that cannot be opened gets an ordinary answer', async () => {
  const fake = fakeStreams();
  await using edge = await httpEdge({ streams: fake.streams });
  const unknown = [404, { error: 'Unknown workstream' }];
  assert.deepEqual(await edge.sendJson({ path: '/v1/api/events?ws_id=ws-9', headers: READ }), unknown);
  assert.deepEqual(await edge.sendJson({ path: '/v1/api/events', headers: READ }), unknown);
  assert.equal((await edge.send({ path: '/v1/api/events?ws_id=ws-1' })).status, 401);
});

test('a quiet stream gets a comment every five seconds, a busy one does not', async () => {
  const fake = fakeStreams();
  await using edge = await httpEdge({ streams: fake.streams });
  const res = await edge.open({ path: '/v1/api/events?ws_id=ws-1', headers: READ });
  await readText(res, OPENING.length);
  await edge.clock.advance(4_999);
  fake.followed[0]?.sink.write([entry(8, '{}')]);
  await new Promise(setImmediate);
  await edge.clock.advance(4_999);
  assert.equal(await readText(res, 1), 'id: e:8\ndata: {}\n\n');
  await edge.clock.advance(1);
  assert.equal(await readText(res, 1), ': keepalive\n\n');
  await edge.clock.advance(5_000);
  assert.equal(await readText(res, 1), ': keepalive\n\n');
});

test('a stream ends when the credential is revoked', async () => {
  const fake = fakeStreams();
  const session = new AbortController();
  const principal = principalWith('read', session.signal);
  await using edge = await httpEdge({
    streams: fake.streams,
    authenticator: {
      enabled: true,
      authenticate: async () => principal,
      endOf: () => undefined,
      viewerOf: () => ANYONE,
    },
  });
  for (const path of ['/v1/api/events?ws_id=ws-1', '/v1/api/events/global']) {
    const res = await edge.open({ path });
    res.resume();
    queueMicrotask(() => session.abort());
    await once(res, 'end');
  }
  assert.deepEqual([fake.followed[0]?.isClosed, fake.listeners.size], [true, 0]);
  assert.deepEqual(
    edge.counted.filter((entry) => Array.isArray(entry) && entry[0] === 'sse'),
    [
      ['sse', 1],
      ['sse', -1],
      ['sse', 1],
      ['sse', -1],
    ],
  );
});

test('a stream ends when its workstream is closed, when the server stops, and when the client disconnects', async () => {
  const fake = fakeStreams();
  await using edge = await httpEdge({ streams: fake.streams });
  const path = '/v1/api/events?ws_id=ws-1';
  const closed = await edge.open({ path, headers: READ });
  fake.followed[0]?.sink.write([entry(8, '{"last":true}')]);
  fake.followed[0]?.onEnd();
  assert.match(
    await closed
      .setEncoding('utf8')
      .toArray()
      .then((parts) => parts.join('')),
    /"last":true}\n\n$/,
  );

  const left = await edge.open({ path, headers: READ });
  left.destroy();
  await untilTrue(() => fake.followed[1]?.isClosed === true);

  const stopped = await edge.open({ path, headers: READ });
  stopped.resume();
  edge.closing.abort();
  await once(stopped, 'end');
  assert.deepEqual(
    fake.followed.map(({ isClosed }) => isClosed),
    [true, true, true],
  );
});

test('a stalled reader has a bounded buffer, and is resumed when it reads again', async () => {
  const fake = fakeStreams();
  await using edge = await httpEdge({ streams: fake.streams });
  const socket = connect(edge.port, '127.0.0.1');
  socket.pause();
  socket.write('GET /v1/api/events?ws_id=ws-1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer read\r\n\r\n');
  await untilTrue(() => fake.followed.length === 1);
  const [stream] = fake.followed;
  assert.ok(stream);
  const json = `{"text":"${'x'.repeat(10_000)}"}`;
  let written = 0;
  // The kernel buffers some megabytes before the response must buffer anything.
  while (stream.sink.ready() && written < 5_000) {
    stream.sink.write([entry(++written, json)]);
    await new Promise(setImmediate);
  }
  assert.ok(written < 5_000, 'it never became full');
  stream.sink.transient?.('{"type":"busy_error"}');
  await edge.clock.advance(20_000);
  assert.equal(stream.resumed, 0);

  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  socket.resume();
  await untilTrue(() => stream.resumed === 1);
  assert.equal(stream.sink.ready(), true);
  stream.onEnd();
  await once(socket, 'close');
  assert.equal(received.match(/id: e:\d+\n/g)?.length, written + 1);
  assert.doesNotMatch(received, /busy_error|: keepalive/);
  assert.equal(received.indexOf('\r\n0\r\n\r\n'), received.length - 7, 'the answer ends once, at its end');
});

test('the global stream begins with all states and then sends changes', async () => {
  const fake = fakeStreams();
  await using edge = await httpEdge({ streams: fake.streams });
  const res = await edge.open({ path: '/v1/api/events/global', headers: READ });
  const opening = `retry: 1000\n${framesOf(stateOf('a', 'idle'), stateOf('b', 'idle'))}`;
  assert.equal(await readText(res, opening.length), opening);
  fake.change(stateOf('a', 'thinking'));
  fake.change(stateOf('a', 'idle'));
  const changes = framesOf(stateOf('a', 'thinking'), stateOf('a', 'idle'));
  assert.equal(await readText(res, changes.length), changes);
});

test('a stalled reader of the global stream gets the latest state of each workstream', async () => {
  const fake = fakeStreams();
  await using edge = await httpEdge({ streams: fake.streams });
  const socket = connect(edge.port, '127.0.0.1');
  socket.pause();
  socket.write('GET /v1/api/events/global HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer read\r\n\r\n');
  await untilTrue(() => fake.listeners.size === 1);
  const filler = 'x'.repeat(100_000);
  for (let n = 0; n < 500 && !edge.counted.includes('coalesced'); n++) {
    fake.change(stateOf('a', 'idle', filler));
    await new Promise(setImmediate);
  }
  for (const id of ['a', 'b']) fake.change(stateOf(id, 'error'));
  assert.ok(edge.counted.includes('coalesced'));

  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  socket.resume();
  await untilTrue(() => received.includes('"b","state":"error"'));
  assert.equal(received.match(/"ws_id":"a","state":"error"/g)?.length, 1);
});

test('many streams of one caller cause no warnings', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  const principal = principalWith('read');
  const fake = fakeStreams();
  await using edge = await httpEdge({
    streams: fake.streams,
    authenticator: {
      enabled: true,
      authenticate: async () => principal,
      endOf: () => undefined,
      viewerOf: () => ANYONE,
    },
  });
  for (let n = 0; n < 20; n++) await edge.open({ path: '/v1/api/events/global' });
  await new Promise(setImmediate);
  assert.equal(warnings.length, 0);
});
