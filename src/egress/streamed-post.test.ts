import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import undici from 'undici';
import { type ArrivingBytes, postThrough } from './streamed-post.ts';

/** A server on a free port, with a function that sends it a POST over connections that the test owns. */
async function listen(t: TestContext, server: Server, scheme: 'http' | 'https' = 'http') {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const dispatcher = new undici.Agent({ connect: scheme === 'https' ? { ca: CERTIFICATE } : {} });
  t.after(async () => {
    await dispatcher.destroy();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(`${scheme}://${scheme === 'https' ? 'localhost' : '127.0.0.1'}:${port}/v1/chat?x=1`);
  const send = (signal = new AbortController().signal) =>
    postThrough(dispatcher, url, { headers: { 'x-one': '1' }, body: 'hello', signal });
  return { send, sockets };
}

const serve = (t: TestContext, listener: RequestListener) => listen(t, createServer(listener));

const CERTIFICATE = readFileSync(new URL('./fixtures/localhost-cert.pem', import.meta.url));
const KEY = readFileSync(new URL('./fixtures/localhost-key.pem', import.meta.url));

/** Also after an error, unlike `once`. */
const closing = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

async function textOf(body: ArrivingBytes): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let read = await body.read(); read; read = await body.read()) pieces.push(...read);
  return Buffer.concat(pieces).toString();
}

test('a request arrives with path, headers and body; the response has status, headers and bytes', async (t) => {
  const { send } = await serve(t, async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.writeHead(418, 'Its Text', { 'x-list': ['a', 'b'], 'content-type': 'text/plain' });
    response.end(`${request.method} ${request.url} ${request.headers['x-one']} ${text}`);
  });
  const { status, statusText, headers, body } = await send();
  assert.deepEqual(
    { status, statusText, list: headers['x-list'], type: headers['content-type'], text: await textOf(body) },
    { status: 418, statusText: 'Its Text', list: 'a, b', type: 'text/plain', text: 'POST /v1/chat?x=1 1 hello' },
  );
  assert.equal(await body.read(), undefined);
});

for (const [name, server] of [
  ['HTTP/1.1', createTlsServer({ cert: CERTIFICATE, key: KEY }, (_, response) => response.end('secret'))],
  ['HTTP/2', createSecureServer({ cert: CERTIFICATE, key: KEY }, (_, response) => response.end('secret'))],
] as const) {
  test(`https over ${name}`, async (t) => {
    const { send } = await listen(t, server, 'https');
    assert.equal(await textOf((await send()).body), 'secret');
  });
}

test('https with an unknown certificate is refused', async (t) => {
  const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, (_, response) => response.end('secret'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const dispatcher = new undici.Agent();
  t.after(async () => {
    await dispatcher.destroy();
    server.close();
  });
  const { signal } = new AbortController();
  const sent = postThrough(dispatcher, new URL(`https://localhost:${port}/`), { headers: {}, body: '', signal });
  await assert.rejects(sent, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});

test('a connection is used again after a response was read, and closed after one that was cancelled', async (t) => {
  const { send, sockets } = await serve(t, (_, response) => response.end('x'.repeat(100_000)));
  for (let n = 0; n < 3; n++) {
    await textOf((await send()).body);
    await new Promise(setImmediate); // a connection is free a turn of the event loop later
  }
  assert.equal(sockets.length, 1);
  const [socket] = sockets;
  const closed = socket && closing(socket);
  (await send()).body.cancel();
  await closed;
  await textOf((await send()).body);
  assert.equal(sockets.length, 2);
});

test('pieces that arrive together are read together', async (t) => {
  const { send } = await serve(t, (_, response) => {
    response.writeHead(200);
    response.socket?.cork();
    for (const piece of ['a', 'b', 'c']) response.write(piece);
    response.socket?.uncork();
  });
  const { body } = await send();
  assert.deepEqual((await body.read())?.map(String), ['a', 'b', 'c']);
  body.cancel();
});

for (const [encoding, compress] of [
  ['gzip', gzipSync],
  ['X-Gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['unheard-of', (text: string) => Buffer.from(text)],
] as const) {
  test(`a response with the encoding ${encoding} is decoded`, async (t) => {
    const text = 'data: x\n\n'.repeat(50_000);
    const { send } = await serve(t, (_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(compress(text)),
    );
    assert.equal((await textOf((await send()).body)) === text, true);
  });
}

test('a broken encoding breaks the body off and closes the connection', async (t) => {
  const { send, sockets } = await serve(t, (_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).write('this is not gzip'),
  );
  const { body } = await send();
  await assert.rejects(textOf(body), { code: 'Z_DATA_ERROR' });
  const [socket] = sockets;
  if (socket && !socket.closed) await closing(socket);
});

test('what arrived before a reset is read, then its error', async (t) => {
  const { send } = await serve(t, (_, response) => {
    response.write('kept');
    setImmediate(() => response.socket?.resetAndDestroy());
  });
  const { body } = await send();
  assert.equal(Buffer.concat((await body.read()) ?? []).toString(), 'kept');
  await assert.rejects(body.read(), { code: 'ECONNRESET' });
});

test('a body that ends before its Content-Length breaks off', async (t) => {
  const { send } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half');
    setImmediate(() => response.socket?.end());
  });
  await assert.rejects(textOf((await send()).body), { name: 'SocketError' });
});

test('a refused connection rejects with its code', async (t) => {
  const server = createTcpServer();
  const { send } = await listen(t, server);
  await new Promise((done) => server.close(done));
  await assert.rejects(send(), { code: 'ECONNREFUSED' });
});

test('a header that HTTP does not allow rejects', async () => {
  const { signal } = new AbortController();
  const url = new URL('http://127.0.0.1:9/');
  const sent = async () =>
    postThrough(new undici.Agent(), url, { headers: { authorization: 'a\nb' }, body: '', signal });
  await assert.rejects(sent(), { code: 'UND_ERR_INVALID_ARG' });
});

const PHASES: Record<string, RequestListener> = {
  'before the headers': () => undefined,
  'before the first byte': (_, response) => response.flushHeaders(),
  'in mid-stream': (_, response) => void response.write('half'),
};

for (const [phase, listener] of Object.entries(PHASES)) {
  test(`aborting ${phase} rejects with the reason and closes the connection`, async (t) => {
    const reached = Promise.withResolvers<Socket>();
    const { send } = await serve(t, (request, response) => {
      listener(request, response);
      reached.resolve(request.socket);
    });
    const abort = new AbortController();
    const sent = send(abort.signal);
    const socket = await reached.promise;
    if (phase !== 'before the headers') await sent;
    const closed = closing(socket);
    const read = phase === 'before the headers' ? sent : sent.then(({ body }) => textOf(body));
    abort.abort(new Error('cancelled'));
    await assert.rejects(read, { message: 'cancelled' });
    await closed;
  });
}

test('aborting during the handshake rejects at once, and nothing is sent later', async (t) => {
  const accepted = Promise.withResolvers<Socket>();
  const server = createTcpServer((socket) => accepted.resolve(socket)); // speaks no TLS
  const { send } = await listen(t, server, 'https');
  const abort = new AbortController();
  const sent = send(abort.signal);
  await accepted.promise;
  abort.abort('a reason that is no error');
  await assert.rejects(sent, (reason) => reason === 'a reason that is no error');
});

test('only the signal limits the time: the time limits of undici are switched off', async () => {
  const asked: unknown[] = [];
  class Recording extends undici.Agent {
    override dispatch(options: undici.Dispatcher.DispatchOptions, handler: undici.Dispatcher.DispatchHandler) {
      asked.push([options.headersTimeout, options.bodyTimeout]);
      return super.dispatch(options, handler);
    }
  }
  const dispatcher = new Recording();
  const abort = new AbortController();
  const sent = postThrough(dispatcher, new URL('http://127.0.0.1:9/'), { headers: {}, body: '', signal: abort.signal });
  abort.abort();
  await assert.rejects(sent);
  await dispatcher.destroy();
  assert.deepEqual(asked, [[0, 0]]);
});

test('a signal that has aborted sends nothing', async (t) => {
  const { send, sockets } = await serve(t, () => undefined);
  await assert.rejects(send(AbortSignal.abort(new Error('too late'))), { message: 'too late' });
  assert.equal(sockets.length, 0);
});

test('a body that nobody reads stops its server, and is whole when it is read', async (t) => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const { send } = await serve(t, async (_, response) => {
    for (let n = 0; n < 64; n++) if (!response.write(piece)) await once(response, 'drain');
    response.end();
  });
  const { body } = await send();
  for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate);
  const waiting = (await body.read())?.reduce((sum, { length }) => sum + length, 0) ?? 0;
  assert.ok(waiting < piece.length, `${waiting} bytes were waiting`);
  assert.equal((await textOf(body)).length, 64 * piece.length - waiting);
});
