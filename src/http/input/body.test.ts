import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LIMITS } from '../../../protocol/limits.ts';
import { bodyOf } from '../../testing/answer-body.ts';
import { httpEdge } from '../../testing/http-edge.ts';

const SEND = '/v1/api/send';
const HEADERS = { authorization: 'Bearer write', 'content-type': 'application/json' };
/** The params of the call when the body could not be read. */
const EMPTY = { wsId: '', message: '', attachmentIds: 'pending' };

test('a body that is not a JSON object counts as an empty one', async (t) => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const corpus: Record<string, string | Buffer> = {
    nothing: '',
    'half an object': '{"message":"hi"',
    'an array': '[{"message":"hi"}]',
    'a string': '"hi"',
    null: 'null',
    'not JSON': 'message=hi',
    'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    'half a million brackets': '['.repeat(500_000),
    compressed: gzipSync('{"message":"hi"}'),
  };
  for (const [name, body] of Object.entries(corpus)) {
    await t.test(name, async () => {
      edge.asked.length = 0;
      assert.deepEqual(await edge.sendJson({ method: 'POST', path: SEND, headers: HEADERS, body }), [
        200,
        { status: 'ok' },
      ]);
      assert.deepEqual(edge.asked[0]?.params, EMPTY);
    });
  }
});

test('half of a surrogate pair anywhere in a body is refused, at any depth', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const deep = `${'{"a":['.repeat(20_000)}"\\ud800"${']}'.repeat(20_000)}`;
  const bodies = ['{"message":"\\ud800"}', '{"\\udc00":1}', deep, Buffer.from('7b2261223a22eda08022', 'hex')];
  const error = 'The body holds half of a surrogate pair, which is not a character. Send valid Unicode text.';
  for (const body of bodies)
    assert.deepEqual(await edge.sendJson({ method: 'POST', path: SEND, headers: HEADERS, body }), [400, { error }]);
  assert.deepEqual(edge.asked, []);
});

test('a body is read as JSON whatever its declared type, except for uploads', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const types = {
    'application/json': 'hi',
    'Application/JSON; charset=utf-8': 'hi',
    '': 'hi',
    'text/plain': 'hi',
    'application/x-www-form-urlencoded': 'hi',
    'multipart/form-data; boundary=x': '',
  };
  for (const [type, message] of Object.entries(types)) {
    edge.asked.length = 0;
    const headers = { authorization: 'Bearer write', ...(type !== '' && { 'content-type': type }) };
    await edge.sendJson({ method: 'POST', path: SEND, headers, body: '{"message":"hi"}' });
    assert.deepEqual([type, edge.asked[0]?.params], [type, { ...EMPTY, message }]);
  }
});

test('a property named `__proto__` is refused with its place, at any depth and even if escaped', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const deep = `${'{"a":'.repeat(100_000)}{"__proto__":1}${'}'.repeat(100_000)}`;
  const places = {
    '{"__proto__":{"message":"evil"},"message":"hi"}': '__proto__',
    '{"message":"hi","x":[{"y":1},{"z":{"\\u005f_proto__":null}}]}': 'x.1.z.__proto__',
    [`{"message":"hi","x":${deep}}`]: '….a.a.a.a.a.a.a.__proto__',
  };
  const answers: unknown[] = [];
  for (const body of Object.keys(places)) answers.push(await edge.post(SEND, body));
  assert.deepEqual(
    answers,
    Object.values(places).map((place) => [400, { error: `${place}: a property cannot have this name` }]),
  );
  assert.deepEqual(edge.asked, []);
});

test('other names of properties that every object has are names like any other', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const body = '{"constructor":{"prototype":{"message":"evil"}},"message":"hi __proto__ \\u00e9"}';
  await edge.post(SEND, body);
  assert.deepEqual(edge.asked[0]?.params, { ...EMPTY, message: 'hi __proto__ é' });
  assert.equal('message' in {}, false);
});

test('a `__proto__` header is only a header', async () => {
  await using edge = await httpEdge({ answer: () => ({ workstreams: [] }) });
  const socket = connect(edge.port, '127.0.0.1');
  socket.end(
    'GET /v1/api/workstreams HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer read\r\n__proto__: x\r\nconstructor: y\r\nConnection: close\r\n\r\n',
  );
  const [data] = (await once(socket, 'data')) as [Buffer];
  assert.match(data.toString(), /^HTTP\/1\.1 200 OK/);
});

test('the query of a POST is ignored, and a token in a query is never read', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  await edge.post(`${SEND}?message=hi&ws_id=a`, {});
  assert.deepEqual(edge.asked[0]?.params, EMPTY);
  const query = '?token=read&access_token=read&authorization=Bearer%20read&service_auth=read';
  assert.equal((await edge.send({ path: `/v1/api/workstreams${query}` })).status, 401);
});

test('a body up to the limit is read; one byte more is 413 and ends the connection', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const ofSize = (size: number) => `{"message":"${'x'.repeat(size - '{"message":""}'.length)}"}`;
  assert.equal((await edge.post(SEND, ofSize(LIMITS.maxPayloadBytes)))[0], 200);
  const answer = await edge.send({
    method: 'POST',
    path: SEND,
    headers: HEADERS,
    body: ofSize(LIMITS.maxPayloadBytes + 1),
  });
  assert.deepEqual(
    [answer.status, answer.headers.connection, bodyOf(answer)],
    [413, 'close', { error: 'Request body too large' }],
  );
});

test('a body without a declared length is limited too, and a client that never ends it is disconnected', async () => {
  await using edge = await httpEdge();
  const socket = connect(edge.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(
    `POST ${SEND} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const chunk = 'x'.repeat(600_000);
  for (let n = 0; n < 2; n++) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  const [data] = (await once(socket, 'data')) as [Buffer];
  assert.match(data.toString(), /^HTTP\/1\.1 413 /);
  const closed = once(socket, 'close');
  await edge.clock.advance(1_000);
  await closed;
  assert.deepEqual(edge.asked, []);
});

test('a request whose client disconnects during the body is not dispatched', async () => {
  await using edge = await httpEdge();
  const socket = connect(edge.port, '127.0.0.1');
  const counted = once(edge.server, 'connection');
  socket.write(
    `POST ${SEND} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\nContent-Length: 100\r\n\r\n{"mess`,
  );
  await counted;
  await once(edge.server, 'request');
  socket.destroy();
  while (edge.counted.length === 0) await new Promise(setImmediate);
  assert.deepEqual([edge.asked, edge.log.lines], [[], [['debug', 'a request was answered']]]);
});
