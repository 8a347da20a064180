import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { httpEdge } from '../testing/http-edge.ts';

async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(text);
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
  });
  await once(socket, 'close');
  return received;
}

/** `n`: how many requests got no id of their own so far. */
const refused = (status: string, error: string, n = 1) => {
  const body = JSON.stringify({ error, request_id: `edge-${n}` });
  const headers = ['Access-Control-Allow-Origin: *', `X-Request-Id: edge-${n}`, 'Connection: close'];
  const content = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  return [`HTTP/1.1 ${status}`, ...headers, ...content, '', body].join('\r\n');
};

const INVALID = 'The request is not valid HTTP/1.1';

test('input that is not HTTP is answered and the connection closed', async () => {
  await using edge = await httpEdge();
  assert.equal(await exchange(edge.port, 'nonsense\r\n\r\n'), refused('400 Bad Request', INVALID));
  assert.deepEqual(
    edge.log.fields.map((fields) => [Reflect.get(fields, 'requestId'), Reflect.get(fields, 'status')]),
    [['edge-1', 400]],
  );
});

test('ambiguous requests that servers read differently are refused', async () => {
  await using edge = await httpEdge();
  const start = 'POST /v1/api/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\n';
  const bodies = [
    'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}',
    'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
    'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
    'Content-Length: +5\r\n\r\n{}   ',
  ];
  for (const [at, rest] of bodies.entries())
    assert.equal(await exchange(edge.port, start + rest), refused('400 Bad Request', INVALID, at + 1), rest);
  assert.deepEqual(edge.asked, []);
});

test('headers beyond 16 KiB, or more of them than are read, are 431 with both limits', async () => {
  await using edge = await httpEdge();
  const many = Array.from({ length: 102 }, (_, n) => `X-${n}: 1\r\n`).join('');
  for (const [at, headers] of [`X: ${'x'.repeat(17_000)}\r\n`, many].entries())
    assert.equal(
      await exchange(edge.port, `GET / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`),
      refused(
        '431 Request Header Fields Too Large',
        'The request has more than 100 headers, or more than 16 KiB of them',
        at + 1,
      ),
    );
});

test('a request without a Host is refused with the headers of every answer, and its connection goes on', async () => {
  await using edge = await httpEdge();
  for (const [at, version] of ['1.1', '1.0'].entries()) {
    const next = version === '1.1' ? 'GET /nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' : '';
    const answer = await exchange(edge.port, `GET /health HTTP/${version}\r\nX-Request-Id: mine-${at}\r\n\r\n${next}`);
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\nAccess-Control-Allow-Origin: \*\r\n/);
    assert.ok(answer.includes(`X-Request-Id: mine-${at}\r\n`), answer);
    assert.ok(answer.includes(`{"error":"The header Host is missing","request_id":"mine-${at}"}`), answer);
    assert.equal(answer.endsWith('Not found'), version === '1.1');
  }
});

test('a client that resets its connection does no harm', async () => {
  await using edge = await httpEdge();
  const socket = connect(edge.port, '127.0.0.1');
  await once(edge.server, 'connection');
  socket.resetAndDestroy();
  assert.equal((await edge.send({ path: '/' })).status, 200);
});

test('the limits against slow clients are set', async () => {
  await using edge = await httpEdge();
  const { headersTimeout, requestTimeout, keepAliveTimeout, maxHeadersCount } = edge.server;
  assert.deepEqual(
    { headersTimeout, requestTimeout, keepAliveTimeout, maxHeadersCount },
    { headersTimeout: 15_000, requestTimeout: 82 * 60_000, keepAliveTimeout: 65_000, maxHeadersCount: 102 },
  );
});

test('the connection of an invalid request is closed a second after the answer, even if the client keeps it open', async () => {
  await using edge = await httpEdge();
  const socket = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.resume().write('nonsense\r\n\r\n');
  await once(socket, 'end');
  const connections = promisify(edge.server.getConnections.bind(edge.server));
  await edge.clock.advance(999);
  const lingering = await connections();
  await edge.clock.advance(1);
  assert.deepEqual([lingering, await connections()], [1, 0]);
  socket.destroy();
});
