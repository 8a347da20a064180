import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { FORWARDED } from '../../gateway/auth/machines/forwarded-head.ts';
import { createMachineKey } from '../../gateway/auth/machines/machine-key.ts';
import { headersOf, request, standbyScene } from '../../testing/standby-scene.ts';
import { untilTrue } from '../../testing/until-true.ts';

const statusOf = (answer: string) => Number(answer.split(' ', 2)[1]);
const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);
const headOf = (answer: string) => answer.slice(0, answer.indexOf('\r\n\r\n')).split('\r\n');

async function readBody(req: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of req) parts.push(part);
  return Buffer.concat(parts);
}

/** Answers with the body of the request. */
const echo: RequestListener = (req, res) =>
  void readBody(req).then(
    (body) => res.end(body),
    () => undefined, // the client has gone
  );

/** Every byte, in Latin-1. */
const BYTES = String.fromCharCode(...Array(256).keys());

test('a body arrives byte for byte in both directions, with a length or in chunks', async () => {
  await using scene = await standbyScene({ answer: echo });
  const withLength = await scene.ask(
    request('POST /a?x=%2F', ['Content-Length: 256', 'X-A: 1', 'x-a: 2', 'X-Odd: \xe4'], BYTES),
  );
  assert.deepEqual([statusOf(withLength), bodyOf(withLength)], [200, BYTES]);
  const chunks = `80\r\n${BYTES.slice(0, 128)}\r\n80\r\n${BYTES.slice(128)}\r\n0\r\n\r\n`;
  const chunked = await scene.ask(request('PUT /b', ['Transfer-Encoding: chunked'], chunks));
  assert.deepEqual([statusOf(chunked), bodyOf(chunked)], [200, BYTES]);
  const [first, second] = scene.one.got;
  assert.deepEqual([first?.method, first?.url, first?.client], ['POST', '/a?x=%2F', { address: '127.0.0.1' }]);
  assert.ok(first && second);
  assert.deepEqual(headersOf(first), [
    ...['Host: localhost', 'Content-Length: 256', 'X-A: 1', 'x-a: 2', 'X-Odd: \xe4'],
  ]);
  assert.equal(headersOf(second).filter((line) => line === 'Transfer-Encoding: chunked').length, 1);
  assert.equal(scene.one.state.greetings, 1);
});

test('a large body passes a slow reader whole', async () => {
  await using scene = await standbyScene({ answer: (_, res) => void res.end('x'.repeat(8_000_000)) });
  const client = scene.send(request('GET /large'));
  client.socket.pause();
  await untilTrue(() => scene.one.got.length === 1);
  client.socket.resume();
  await client.closed;
  assert.equal(bodyOf(client.received()).length, 8_000_000);
});

test('answers without a body, repeated headers, and the headers of the connection', async () => {
  const answer: RequestListener = ({ url, method }, res) => {
    const status = Number(url?.slice(1));
    res.writeHead(status, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Proxy-Connection', 'x', 'X-Odd', '\xe4']);
    res.end(method === 'HEAD' || status !== 200 ? undefined : Buffer.from('body'));
  };
  await using scene = await standbyScene({ answer });
  for (const [line, body] of Object.entries({ 'HEAD /200': '', 'GET /204': '', 'GET /304': '', 'GET /200': 'body' })) {
    const got = await scene.ask(request(line));
    const head = headOf(got);
    assert.equal(statusOf(got), Number(line.slice(-3)), line);
    assert.deepEqual(
      head.filter((each) => /^(set-cookie|proxy|x-odd)/i.test(each)),
      ['Set-Cookie: a=1', 'Set-Cookie: b=2', 'X-Odd: \xe4'],
      line,
    );
    assert.equal(head.filter((each) => /^date:/i.test(each)).length, 1, line);
    assert.ok(head.includes('Connection: close'), line);
    assert.ok(body === '' ? bodyOf(got) === '' : bodyOf(got).includes(body), line);
  }
});

test('an HTTP/1.0 client gets no chunks', async () => {
  await using scene = await standbyScene({
    answer(_, res) {
      res.write('one ');
      res.end('two');
    },
  });
  const answer = await scene.ask('GET / HTTP/1.0\r\nHost: localhost\r\n\r\n');
  assert.equal(bodyOf(answer), 'one two');
  assert.doesNotMatch(answer, /transfer-encoding/i);
});

/** Answers are streams that go on. */
async function streaming() {
  const streams: ServerResponse[] = [];
  const scene = await standbyScene({
    answer(_, res) {
      streams.push(res);
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.write('data: 1\n\n');
    },
  });
  return { scene, streams, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

test('an event arrives before the end of its stream, and a client that leaves ends it at the active daemon', async () => {
  await using world = await streaming();
  const { scene, streams } = world;
  const client = scene.send(request('GET /events'));
  await untilTrue(() => client.received().includes('data: 1'));
  assert.deepEqual([scene.forwarder.follow(), streams[0]?.destroyed], [undefined, false]);
  assert.match(await scene.ask(request('GET /metrics')), /service_forwarded_open 1\n/);
  client.socket.destroy();
  await untilTrue(() => streams[0]?.destroyed === true);
  assert.match(await scene.ask(request('GET /metrics')), /total 1\n[\s\S]*service_forwarded_open 0\n/);
});

test('the end of the active daemon in the middle of an answer breaks the connection of the client', async () => {
  await using world = await streaming();
  const { scene, streams } = world;
  const client = scene.send(request('GET /events'));
  await untilTrue(() => client.received().includes('data: 1'));
  streams[0]?.destroy();
  await client.closed;
  assert.doesNotMatch(client.received(), /0\r\n\r\n$/);
});

test('another active daemon ends what goes to the one before, and gets what comes then', async () => {
  await using world = await streaming();
  const { scene } = world;
  const client = scene.send(request('GET /events'));
  await untilTrue(() => client.received().includes('data: 1'));
  scene.name(undefined);
  scene.forwarder.follow(); // it is unknown who is active now
  assert.equal(client.socket.destroyed, false);
  const two = await scene.another('two');
  scene.name(two.daemon);
  scene.forwarder.follow();
  await client.closed;
  const next = scene.send(request('GET /events'));
  await untilTrue(() => next.received().includes('data: 1'));
  assert.deepEqual([scene.one.got.length, two.got.length], [1, 1]);
  scene.forwarder.close();
  await next.closed;
  assert.equal(statusOf(await scene.ask(request('GET /'))), 503);
});

const refused = /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*"error":"This machine is a standby/;

test('what is not for the active daemon is answered here', async () => {
  await using scene = await standbyScene();
  const foreign = await scene.ask('GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
  assert.equal(statusOf(foreign), 403);
  for (const unread of ['GET / HTTP/1.0\r\n\r\n', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 'nonsense\r\n\r\n']) {
    const refused = await scene.ask(unread);
    assert.equal(statusOf(refused), 400, unread);
    assert.deepEqual(headOf(refused).slice(1, 2), ['Access-Control-Allow-Origin: *'], unread);
    assert.match(bodyOf(refused), /^\{"error":"The .+","request_id":"standby-\w+"\}$/);
  }
  assert.match(await scene.ask(request('GET /', [`Headgate-Forwarded: a;1;192.0.2.1;b`])), refused);
  assert.match(await scene.ask(request('GET /', [`${FORWARDED}:`])), refused);
  assert.equal(statusOf(await scene.ask(request('GET /', ['Host: localhost']))), 400);
  assert.equal(statusOf(await scene.ask(request('GET /', Array(100).fill('A: b')))), 431);
  assert.match(await scene.ask(request('GET /node/here_0001/health')), /"status":"standby"/);
  assert.match(await scene.ask('CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n'), /^HTTP\/1\.1 404 [\s\S]*Not found$/);
  const metrics = headOf(await scene.ask(request('GET /metrics')));
  assert.ok(metrics.includes('Content-Type: text/plain; version=0.0.4; charset=utf-8'), metrics.join('\n'));
  for (const path of ['/health', '/metrics'])
    assert.equal(
      statusOf(await scene.ask(`GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)),
      403,
    );
  assert.deepEqual(scene.one.got, []);
  assert.equal(bodyOf(await scene.ask(request('GET /node/here_0001/x'))).includes('one answers'), true);
  assert.deepEqual(
    scene.one.got.map(({ url }) => url),
    ['/x'],
  );
});

test('without a daemon that proves that it is the active one, requests are refused', async () => {
  await using scene = await standbyScene();
  const { daemon } = scene.one;
  scene.name(undefined);
  assert.match(await scene.ask(request('GET /')), refused);
  scene.name({ ...daemon, publicKey: createMachineKey().publicKey, process: 'one' });
  assert.match(await scene.ask(request('POST /', ['Content-Length: 6'], 'secret')), refused);
  scene.name({ ...daemon, process: 'another' });
  assert.match(await scene.ask(request('GET /')), refused);
  scene.name({ ...daemon, process: 'gone', address: 'http://127.0.0.1:1' });
  assert.match(await scene.ask(request('GET /')), refused);
  assert.deepEqual(scene.one.got, []);
  assert.deepEqual(new Set(scene.log.lines.map(([level]) => level)), new Set(['warn']));
});

test('a daemon that cannot be greeted is greeted again after a second, whatever clients send', async () => {
  await using scene = await standbyScene();
  scene.name({ ...scene.one.daemon, publicKey: createMachineKey().publicKey });
  for (let count = 0; count < 5; count += 1) await scene.ask(request('GET /'));
  const before = scene.one.state.greetings;
  await scene.clock.advance(1_000);
  await scene.ask(request('GET /'));
  assert.deepEqual([before, scene.one.state.greetings], [1, 2]);
});

test('a daemon that does not know the session is greeted again, and open streams go on', async () => {
  await using world = await streaming();
  const { scene, streams } = world;
  const client = scene.send(request('GET /events'));
  await untilTrue(() => client.received().includes('data: 1'));
  scene.one.forget();
  await scene.clock.advance(1_000);
  const unknown = await scene.ask(request('POST /', ['Content-Length: 1'], 'x'));
  assert.match(unknown, refused);
  assert.doesNotMatch(unknown, /session/);
  const next = scene.send(request('GET /events'));
  await untilTrue(() => next.received().includes('data: 1'));
  assert.equal(scene.one.state.greetings, 2);
  streams[0]?.write('data: 2\n\n');
  await untilTrue(() => client.received().includes('data: 2'));
});

test('a request that the active daemon may have carried out is not refused as if it had not', async () => {
  await using scene = await standbyScene({ answer: (req) => void req.socket.destroy() });
  const answer = await scene.ask(request('POST /', ['Content-Length: 1'], 'x'));
  assert.equal(statusOf(answer), 502);
  assert.doesNotMatch(answer, /retry-after/i);
  assert.match(await scene.ask(request('GET /')), refused);
});

test('requests that are sent ahead are asked one after the other, and not at all once their client has gone', async () => {
  await using world = await streaming();
  const { scene, streams } = world;
  const line = 'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const client = scene.send(line.repeat(20));
  await untilTrue(() => client.received().includes('data: 1'));
  streams[0]?.end();
  await untilTrue(() => streams.length === 2);
  client.socket.destroy();
  await untilTrue(() => streams[1]?.destroyed === true);
  assert.match(await scene.ask(request('GET /metrics')), /total 2\n[\s\S]*service_forwarded_open 0\n/);
});

test('an answer before the end of the body does not hold the connection', async () => {
  await using scene = await standbyScene({ answer: (_, res) => void res.writeHead(413).end('too large') });
  const client = scene.send('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx');
  await untilTrue(() => client.received().includes('too large'));
  client.socket.write('y'.repeat(999_999));
  client.socket.write(request('GET /next'));
  await client.closed;
  assert.equal(client.received().match(/HTTP\/1\.1 413/g)?.length, 2);
  const slow = scene.send('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx');
  await untilTrue(() => slow.received().includes('too large'));
  await scene.clock.advance(10 * 60_000);
  await slow.closed;
});

test('one request stays one request, however its end is written', async () => {
  await using scene = await standbyScene({ answer: echo });
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const bodies = [
    `Content-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  ];
  for (const method of ['GET', 'POST'])
    for (const rest of bodies)
      assert.equal(statusOf(await scene.ask(`${method} / HTTP/1.1\r\nHost: localhost\r\n${rest}`)), 400, rest);
  assert.deepEqual(scene.one.got, []);
  const good = [
    [`Content-Length: ${hidden.length}`, hidden],
    ['Transfer-Encoding: chunked', `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`],
    ['Connection: content-length, transfer-encoding', ''],
  ] as const;
  for (const method of ['GET', 'DELETE', 'POST', 'OPTIONS'])
    for (const [header, body] of good) await scene.ask(request(`${method} /seen`, [header], body));
  assert.deepEqual([...new Set(scene.one.got.map(({ url }) => url)), scene.one.got.length], ['/seen', 12]);
});

test('a client that resets its connection, and one that breaks off a body, do no harm', async () => {
  await using scene = await standbyScene({ answer: echo });
  const reset = scene.send(request('POST /', ['Content-Length: 10'], 'x'));
  await untilTrue(() => scene.one.got.length === 1);
  reset.socket.resetAndDestroy();
  const broken = scene.send(request('POST /', ['Transfer-Encoding: chunked'], '1\r\nx\r\n'));
  await untilTrue(() => scene.one.got.length === 2);
  broken.socket.write('nonsense\r\n');
  await broken.closed;
  const early = scene.send(request('POST /', ['Expect: 100-continue', 'Content-Length: 1']));
  await once(early.socket, 'data');
  early.socket.write('x');
  await early.closed;
  assert.match(early.received(), /100 Continue[\s\S]*200 OK/);
});
