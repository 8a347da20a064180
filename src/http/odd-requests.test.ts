import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { httpEdge } from '../testing/http-edge.ts';

/** Sends a raw request line, which client libraries would not send, and reads the raw answer. */
const ask = (port: number, line: string, headers: readonly string[] = []): Promise<[number, string]> =>
  askAt({ port, host: 'localhost' }, line, headers);

async function askAt(
  { port, host }: { port: number; host: string },
  line: string,
  headers: readonly string[] = [],
): Promise<[number, string]> {
  const socket = connect(port, '127.0.0.1');
  const always = [`Host: ${host}`, 'X-Request-Id: odd', 'Connection: close'];
  socket.write([`${line} HTTP/1.1`, ...always, ...headers, '', ''].join('\r\n'));
  let received = '';
  socket.setEncoding('latin1').on('data', (data) => {
    received += data;
  });
  await once(socket, 'close');
  const [head = '', body = ''] = received.split('\r\n\r\n');
  return [Number(head.split(' ', 2)[1] ?? 0), body];
}

const READER = ['Authorization: Bearer read'];
const NOT_FOUND = [404, 'Not found'];
const UNAUTHORIZED = [401, '{"error":"Unauthorized: missing or invalid token","request_id":"odd"}'];

test('a path written differently from its row is unknown', async () => {
  await using edge = await httpEdge();
  const paths = [
    ...['//health', '/health/', '/Health', '/./health', '/x/../health', '/%68ealth', '/health%00', '/health;x'],
    ...['/health#x', '/%', '/%zz', '/health%', '/%2e%2e', '/__proto__', '/v1/api/constructor', '/v1/api/:noun', '/*'],
    ...['/v1/api//workstreams', '//v1/api/workstreams', '/v1/api%2Fworkstreams', '/v1/API/workstreams', '/v1/api/'],
    ...['/v1/api/workstreams#x', '/v1/api/workstreams\\saved', `/${'x'.repeat(8_000)}`, '/v1/api/workstreams/*/*'],
  ];
  for (const path of paths) assert.deepEqual(await ask(edge.port, `GET ${path}`, READER), NOT_FOUND, path);
  assert.deepEqual(edge.asked, []);
});

test('any text in the place of a field is its value', async () => {
  await using edge = await httpEdge();
  for (const name of ['%', '%zz', '%ff', '%00', '%E0%A4%A', 'a%2Fb', 'a#b', 'a\\b', '..', '.', '*', '(x)', ':ws_id'])
    assert.deepEqual(await ask(edge.port, `GET /v1/api/workstreams/${name}/attachments`), UNAUTHORIZED, name);
});

test('a whole URL in place of a path is answered as the path, whatever the Host header says', async () => {
  await using edge = await httpEdge();
  for (const path of ['/openapi.json', '/health', '/v1/api/workstreams', '/nowhere', '//health', '/?x=http://y/z']) {
    const expected = await ask(edge.port, `GET ${path}`, READER);
    for (const start of ['http://127.0.0.1', 'HTTP://LOCALHOST:9', 'https://[::1]:1'])
      assert.deepEqual(await ask(edge.port, `GET ${start}${path}`, READER), expected, start + path);
  }
  const root = await ask(edge.port, 'GET /');
  for (const target of ['http://localhost', 'http://localhost:80?x'])
    assert.deepEqual(await ask(edge.port, `GET ${target}`), root, target);
  assert.deepEqual(await askAt({ port: edge.port, host: 'evil.test' }, 'GET http://localhost/openapi.json'), [
    200,
    '{"openapi":"3.1.0"}',
  ]);
  for (const target of ['http://', 'ftp://localhost/health', '*'])
    assert.deepEqual(await ask(edge.port, `GET ${target}`, READER), NOT_FOUND, target);
});

test('the host of a whole URL is checked like a Host header, and so is the origin of a page', async () => {
  await using edge = await httpEdge();
  const refused = await askAt({ port: edge.port, host: 'evil.test' }, 'GET /v1/api/workstreams', READER);
  assert.equal(refused[0], 403);
  const hosts = [
    'evil.test',
    'localhost.evil.test',
    'localhost@evil.test',
    'evil.test@localhost',
    'localhost%2f',
    ':1',
  ];
  for (const host of hosts)
    assert.deepEqual(await ask(edge.port, `GET http://${host}/v1/api/workstreams`, READER), refused, host);
  const twice = await ask(edge.port, 'GET http://localhost/health', ['Host: localhost']);
  assert.equal(twice[0], 400);
  const approve = (origin: string) =>
    ask(edge.port, 'POST http://localhost:1/v1/api/approve', [`Origin: http://${origin}`, 'Content-Length: 0']);
  assert.deepEqual([(await approve('localhost'))[0], (await approve('localhost:1'))[0]], [403, 401]);
  assert.deepEqual(edge.asked, []);
});

test('a whole URL asks for a WebSocket like its path', async () => {
  await using edge = await httpEdge();
  edge.server.on('upgrade', ({ url, headers }, socket) => {
    socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${url} ${headers.host}`);
  });
  const offer = ['Connection: Upgrade', 'Upgrade: websocket'];
  assert.deepEqual(await ask(edge.port, 'GET http://localhost:1/v1/ws?x', offer), [101, '/v1/ws?x localhost:1']);
});

test('a method without a row is not found, and other methods are not disclosed', async () => {
  await using edge = await httpEdge();
  for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY'])
    for (const path of ['/', '/health', '/metrics', '/v1/api/workstreams', '/v1/api/approve', '/nowhere'])
      assert.deepEqual(await ask(edge.port, `${method} ${path}`, READER), NOT_FOUND, `${method} ${path}`);
  assert.deepEqual(await ask(edge.port, 'CONNECT localhost:1'), NOT_FOUND);
});

test('a refused request is counted under its row', async () => {
  await using edge = await httpEdge();
  const foreign = ['Origin: http://evil.test'];
  await ask(edge.port, 'POST /v1/api/approve', foreign);
  await ask(edge.port, 'POST /v1/api/workstreams/a/attachments', foreign);
  await ask(edge.port, 'POST /nowhere', foreign);
  await ask(edge.port, 'POST /', foreign);
  await ask(edge.port, 'OPTIONS /v1/api/approve', ['Host: localhost']);
  assert.deepEqual(edge.counted, [
    ['POST', '/v1/api/approve', 403],
    ['POST', '/v1/api/workstreams/{ws_id}/attachments', 403],
    ['POST', 'other', 403],
    ['POST', 'other', 403],
    ['OPTIONS', 'other', 400],
  ]);
});

test('consecutive requests on a connection are each answered when their body is complete, in one chunk or two', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const socket = connect(edge.port, '127.0.0.1');
  socket.write(
    'POST /v1/api/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\nContent-Length: 2\r\n\r\n{}',
  );
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.write(
    'POST /v1/api/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer write\r\nContent-Length: 4\r\n\r\n{ ',
  );
  await new Promise(setImmediate);
  socket.write(' }');
  const [second] = (await once(socket, 'data')) as [Buffer];
  assert.deepEqual(
    [first, second].map((answer) => answer.toString().split('\r\n', 1)[0]),
    ['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK'],
  );
  assert.equal(edge.asked.length, 2);
  socket.destroy();
});
