import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { untilTrue } from '../testing/until-true.ts';
import { createEndOfTurn } from '../timing/end-of-turn.ts';
import { createSseWriting, openSse, type SseStream, sseFrame } from './sse.ts';

/** Answers /stream with an event stream, and other paths when the test says so; the test writes raw requests. */
async function setUp() {
  const clock = fakeClock();
  const writing = createSseWriting({ defer: createEndOfTurn().defer, clock });
  const streams: SseStream[] = [];
  const waiting: ServerResponse[] = [];
  const server = createServer((req, res) => {
    if (req.url !== '/stream') return void waiting.push(res);
    const handlers = { onReady: () => undefined, onEnd: () => undefined };
    streams.push(openSse(res, { requestId: 'r1', writing, until: [], ...handlers }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  return {
    streams,
    waiting,
    socket,
    received: () => received,
    bodies: () => received.split(/HTTP\/1\.1 200[\s\S]*?\r\n\r\n/).slice(1),
    async [Symbol.asyncDispose]() {
      socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('frames of one turn are one chunk, and the end closes the response', async () => {
  await using edge = await setUp();
  edge.socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await untilTrue(() => edge.streams.length === 1);
  edge.streams[0]?.send(sseFrame('"ä"'));
  edge.streams[0]?.send(sseFrame('2'));
  await untilTrue(() => edge.received().includes('data: 2'));
  edge.streams[0]?.send(sseFrame('3'));
  edge.streams[0]?.end();
  await once(edge.socket, 'close');
  const together = 'data: "ä"\n\ndata: 2\n\n';
  assert.deepEqual(edge.bodies(), [`15\r\n${together}\r\n9\r\ndata: 3\n\n\r\n0\r\n\r\n`]);
});

test('events of a log are a chunk of their own, behind the frames that wait', async () => {
  await using edge = await setUp();
  edge.socket.write('GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await untilTrue(() => edge.streams.length === 1);
  const [stream] = edge.streams;
  const entry = (text: string) => ({ sse: () => sseFrame(text) });
  stream?.write([entry('1'), entry('2')]);
  stream?.write([entry('3')]);
  stream?.send(sseFrame('4'));
  stream?.write([entry('5')]);
  stream?.end();
  stream?.write([entry('6')]);
  await once(edge.socket, 'close');
  const [first, second, third] = ['data: 1\n\ndata: 2\n\n', 'data: 3\n\n', 'data: 4\n\ndata: 5\n\n'];
  assert.deepEqual(edge.bodies(), [`12\r\n${first}\r\n9\r\n${second}\r\n12\r\n${third}\r\n0\r\n\r\n`]);
});

test('a stream is not chunked for an HTTP/1.0 client', async () => {
  await using edge = await setUp();
  edge.socket.write('GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n');
  await untilTrue(() => edge.streams.length === 1);
  edge.streams[0]?.send(sseFrame('1'));
  edge.streams[0]?.end();
  await once(edge.socket, 'close');
  assert.deepEqual(edge.bodies(), ['data: 1\n\n']);
});

test('a stream requested behind an unfinished answer comes after it', async () => {
  await using edge = await setUp();
  edge.socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\nGET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await untilTrue(() => edge.streams.length === 1);
  edge.streams[0]?.send(sseFrame('1'));
  await new Promise(setImmediate);
  assert.equal(edge.received(), '');
  edge.waiting[0]?.end('slow');
  await untilTrue(() => edge.received().includes('data: 1'));
  edge.streams[0]?.send(sseFrame('2'));
  edge.streams[0]?.end();
  await once(edge.socket, 'close');
  const [first, second] = edge.bodies();
  assert.match(first ?? '', /slow/);
  assert.equal(second, '9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n');
});
