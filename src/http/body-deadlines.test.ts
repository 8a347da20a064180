import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import type { Attachment } from '../../protocol/stream-events.ts';
import { httpEdge } from '../testing/http-edge.ts';
import { untilTrue } from '../testing/until-true.ts';
import type { AttachmentService } from './routes/attachment.ts';

const STORED: Attachment = {
  ...{ attachment_id: 'att_1', filename: 'a', mime_type: 'text/plain', size_bytes: 1, kind: 'text' },
};
const PART = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
const TOO_SLOW = 'HTTP/1.1 408 Request Timeout';

/** Accepts uploads, and reports the received bytes of one, and how it ended. */
function receiver() {
  let received = 0;
  let ended: string | undefined;
  const wanted = new Set<() => void>();
  const tell = () => {
    for (const look of wanted) look();
  };
  const when = (isSo: () => boolean) =>
    new Promise<void>((resolve) => {
      wanted.add(() => isSo() && resolve());
      tell();
    });
  const receive: AttachmentService['receive'] = async (_, { bytes }) => {
    try {
      for await (const chunk of bytes) {
        received += chunk.length;
        tell();
      }
      ended = 'whole';
      return STORED;
    } catch (error) {
      ended = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      tell();
    }
  };
  return {
    receive,
    hasBytes: (bytes: number) => when(() => received >= bytes),
    async ending() {
      await when(() => ended !== undefined);
      return ended;
    },
  };
}

async function setUp() {
  const { receive, hasBytes, ending } = receiver();
  const unused = () => Promise.reject(new Error('not in this test'));
  const edge = await httpEdge({
    attachments: { receive, list: unused, open: unused, remove: unused, staged: { stage: unused, release: unused } },
  });
  /** The head of a request and the beginning of its body; `length` is the declared length. */
  const begin = (line: string, { token = 'write', type = 'application/json', length = 1_000, body = '' } = {}) => {
    const socket = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    const head = `Authorization: Bearer ${token}\r\nContent-Type: ${type}\r\nContent-Length: ${length}`;
    socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n${body}`);
    const closed = once(socket, 'end').then(() => answer);
    return { socket, closed, answerSoFar: () => answer, seen: once(edge.server, 'request') };
  };
  const upload = (length: number, body: string, token?: string) => {
    const type = 'multipart/form-data; boundary=x';
    const line = 'POST /v1/api/workstreams/w/attachments';
    return begin(line, { type, length: PART.length + length, body: PART + body, ...(token && { token }) });
  };
  return { edge, hasBytes, ending, begin, upload, [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose]() };
}

/** The parser holds back bytes that could be the boundary. */
const HELD_BACK = 64;
/** For one minute. Bytes in the same chunk as the head do not count. */
const ENOUGH = LIMITS.uploadProgressBytes + 64 * 1024;
const minutes = (count: number) => count * LIMITS.bodyMs;

test('a body that is incomplete after a minute is answered 408, however much arrived', async () => {
  await using server = await setUp();
  const { socket, closed, seen } = server.begin('POST /v1/api/send', { length: 1_000_000, body: '{"ws_id":"' });
  await seen;
  await server.edge.clock.advance(minutes(1) - 1);
  socket.write('x'.repeat(900_000));
  await server.edge.clock.advance(1);
  const answer = await closed;
  assert.equal(answer.split('\r\n')[0], TOO_SLOW);
  assert.match(answer, /^X-Request-Id: edge-1\r$/m);
  assert.match(answer, /\{"error":"The request body arrived too slowly","request_id":"edge-1"\}$/);
  await untilTrue(() => server.edge.counted.length > 0);
  assert.deepEqual(
    [server.edge.counted, server.edge.log.fields.map((fields) => Reflect.get(fields, 'requestId'))],
    [[['POST', '/v1/api/send', 408]], ['edge-1']],
  );
  assert.deepEqual(server.edge.asked, []);
});

test('an upload may take any time while every minute brings enough bytes', async () => {
  await using server = await setUp();
  const text = 'y'.repeat(20 * ENOUGH);
  const end = '\r\n--x--\r\n';
  const { socket, answerSoFar } = server.upload(text.length + end.length, '');
  for (let sent = 0; sent < text.length; ) {
    socket.write(text.slice(sent, sent + ENOUGH));
    sent = Math.min(text.length, sent + ENOUGH);
    await server.hasBytes(sent - HELD_BACK);
    await server.edge.clock.advance(minutes(1));
  }
  assert.equal(answerSoFar(), '');
  socket.write(end);
  await once(socket, 'data');
  assert.match(answerSoFar(), /^HTTP\/1.1 200 OK/);
  assert.equal(await server.ending(), 'whole');
});

test('a stalled upload is answered 408 after its minute, and its receiver gets an error', async () => {
  await using server = await setUp();
  const { closed } = server.upload(5 * LIMITS.uploadProgressBytes, 'y'.repeat(2 * LIMITS.uploadProgressBytes));
  await server.hasBytes(2 * LIMITS.uploadProgressBytes - HELD_BACK);
  await server.edge.clock.advance(minutes(1));
  await server.edge.clock.advance(minutes(1) - 1);
  const before = await Promise.race([server.ending(), 'goes on']);
  await server.edge.clock.advance(5_000);
  assert.deepEqual(
    [before, (await closed).split('\r\n')[0], await server.ending()],
    ['goes on', TOO_SLOW, 'The request body ended early'],
  );
});

test('an upload that is too slow is ended like a stalled one', async () => {
  await using server = await setUp();
  const { closed } = server.upload(5 * LIMITS.uploadProgressBytes, 'y'.repeat(LIMITS.uploadProgressBytes / 2));
  await server.hasBytes(LIMITS.uploadProgressBytes / 2 - HELD_BACK);
  await server.edge.clock.advance(minutes(1));
  assert.equal((await closed).split('\r\n')[0], TOO_SLOW);
});

test('callers who may not upload get no additional time', async () => {
  await using server = await setUp();
  const { socket, closed } = server.upload(5 * LIMITS.uploadProgressBytes, '', 'read');
  await once(socket, 'data');
  socket.write('y'.repeat(2 * LIMITS.uploadProgressBytes));
  await server.edge.clock.advance(minutes(1));
  assert.match(await closed, /^HTTP\/1.1 403/);
});

test('an idle connection is not ended between its requests', async () => {
  await using server = await setUp();
  const { socket, closed } = server.begin('POST /v1/api/send', { length: 2, body: '{}' });
  await once(socket, 'data');
  await server.edge.clock.advance(minutes(2));
  socket.write('OPTIONS /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  assert.equal((await closed).match(/HTTP\/1.1 200/g)?.length, 2);
});

test('an unknown expectation is refused without reading the body', async () => {
  await using server = await setUp();
  const socket = connect({ port: server.edge.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\nContent-Length: 10\r\n\r\n');
  let answer = '';
  for await (const data of socket) answer += data;
  assert.match(answer, /^HTTP\/1.1 417 /);
});
