import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';

const daemon = await startDaemon({
  entry: new URL('../support/fixtures/limited-daemon.ts', import.meta.url),
  config: { logLevel: 'debug' },
});
after(() => daemon[Symbol.asyncDispose]());

/** The lines of the log so far. */
const logged = (): Record<string, unknown>[] =>
  daemon
    .output()
    .stderr.split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** The daemon writes its log beside its answers, so a line may come after them. */
async function untilLogged(isIt: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
  for (;;) {
    const found = logged().find(isIt);
    if (found) return found;
    await pause(20);
  }
}

const create = (requestId: string) =>
  daemon.fetch('/v1/api/workstreams/new', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Request-Id': requestId },
    body: '{}',
  });

/** What the log says about a request. */
const linesOf = (id: string) =>
  logged()
    .filter(({ requestId }) => requestId === id)
    .map(({ msg, method, code, statusCode }) => [msg, method, code ?? statusCode]);

/** A POST exactly as given: `fetch` allows no other host name. */
async function send(id: string, { body, ...given }: { body: string } & Record<string, string>) {
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': id, ...given };
  const sent = request({ host: '127.0.0.1', port: daemon.port, method: 'POST', path: '/v1/api/approve', headers });
  const [answer] = (await once(sent.end(body), 'response')) as [IncomingMessage];
  return [answer.statusCode, JSON.parse(await text(answer)), answer.headers['x-request-id']];
}

test('Every error with a JSON body must have its `request_id` there and, with `logLevel: "debug"`, in the log', async () => {
  const operator = { Authorization: `Bearer ${daemon.token}`, body: '{"ws_id":"nobody","approved":true}' };
  const answers: Record<string, [number, string, Parameters<typeof send>[1]]> = {
    'no-credential': [401, 'Unauthorized: missing or invalid token', { body: '{}' }],
    'of-another-site': [403, 'Forbidden: request from another site', { ...operator, Origin: 'http://evil.test' }],
    'another-host': [403, 'Forbidden: this host name is not allowed', { ...operator, Host: 'evil.test' }],
    'invalid-field': [400, 'approved: must be true or false', { ...operator, body: '{"ws_id":"nobody"}' }],
    'unknown-id': [404, 'Unknown workstream', operator],
  };
  for (const [id, [status, error, sent]] of Object.entries(answers))
    assert.deepEqual(await send(id, sent), [status, { error, request_id: id }, id]);
  daemon.signal('SIGUSR2'); // from now on, the disk is full
  let number = 1;
  let answer = await create('full-1');
  while (answer.status === 200) answer = await create(`full-${++number}`);
  const id = `full-${number}`;
  assert.deepEqual(
    [answer.status, await answer.json(), answer.headers.get('x-request-id')],
    [503, { error: 'Cannot write to the disk', request_id: id }, id],
  );
  assert.deepEqual(linesOf(id), [
    ['a call was refused', 'workstream.create', 'UNAVAILABLE'],
    ['a request was answered', 'POST', 503],
  ]);
  for (const [refused, [status]] of Object.entries(answers))
    assert.deepEqual(linesOf(refused).at(-1), ['a request was answered', 'POST', status], refused);
});

test('With `logLevel: "debug"`, every answered request must have a line with its `requestId` in the log, over HTTP and WebSocket', async () => {
  const client = await daemon.client();
  await client.call('workstream.list', {});
  await assert.rejects(client.call('sessions.resolve', { key: 'nobody-knows-it' }));
  const refused = await untilLogged(({ method }) => method === 'sessions.resolve');
  assert.equal(refused?.msg, 'a call was refused');
  assert.ok(logged().some(({ msg, connId }) => msg === 'connected' && connId === refused?.connId));
  assert.match(String(refused?.frameId), /^.{1,64}$/);
  assert.equal(refused?.requestId, `${refused?.connId}/${refused?.frameId}`);
  await using stream = await daemon.sse('/v1/api/events/global', { headers: { 'X-Request-Id': 'stream-1' } });
  await stream.until('ws_state');
  await daemon.fetch('/v1/api/models', { headers: { 'X-Request-Id': 'plain-1' } });
  await daemon.get('/health');
  await untilLogged(({ requestId }) => requestId === 'plain-1');
  const answered = logged().filter(({ msg }) => msg === 'a request was answered');
  const outcomes = answered.flatMap(({ method, endpoint, statusCode, outcome, requestId }) =>
    typeof requestId === 'string' ? [`${method} ${endpoint ?? ''} ${statusCode ?? outcome}`] : [],
  );
  assert.equal(outcomes.length, answered.length);
  for (const line of [
    'workstream.list  ok',
    'sessions.resolve  NOT_FOUND',
    'GET /v1/api/events/global 200',
    'GET /v1/api/models 200',
  ])
    assert.ok(outcomes.includes(line), line);
  const ids = answered.map(({ requestId }) => requestId);
  assert.deepEqual([ids.includes('stream-1'), ids.includes('plain-1')], [true, true]);
});

/** The answer to a request that reaches no row of the interface, by its bytes. */
async function answerTo(line: string, headers: Record<string, string>) {
  const socket = connect(daemon.port, '127.0.0.1');
  const all = { Host: `127.0.0.1:${daemon.port}`, ...headers };
  socket.write(
    [`${line} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n'),
  );
  const [head = '', body] = (await text(socket)).split('\r\n\r\n');
  const [status = '', ...fields] = head.toLowerCase().split('\r\n');
  return { status: Number(status.split(' ')[1]), fields, body };
}

test('A request that gets no WebSocket must be answered like every other one', async () => {
  const upgrade = { Connection: 'close, Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
  const socket = { ...upgrade, 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' };
  const cases: [line: string, headers: Record<string, string>, status: number, problem: string | undefined][] = [
    ['GET /nopath', socket, 404, undefined],
    ['POST /v1/ws', { ...socket, 'Content-Length': '0' }, 404, undefined],
    ['CONNECT localhost:1', {}, 404, undefined],
    ['GET /v1/ws', { ...socket, Origin: 'http://evil.test' }, 403, 'Forbidden: request from another site'],
    ['GET /v1/ws', { ...socket, Host: 'evil.test' }, 403, 'Forbidden: this host name is not allowed'],
    ['GET /v1/ws', upgrade, 400, 'Missing or invalid Sec-WebSocket-Key header'],
    ['GET /', { Expect: 'miracles', Connection: 'close' }, 417, 'Expect: only 100-continue is supported'],
  ];
  for (const [at, [line, headers, status, error]] of cases.entries()) {
    const id = `raw-${at}`;
    const answer = await answerTo(line, { ...headers, 'X-Request-Id': id });
    const body = error === undefined ? 'Not found' : JSON.stringify({ error, request_id: id });
    assert.deepEqual([answer.status, answer.body], [status, body], line);
    for (const field of ['access-control-allow-origin: *', `x-request-id: ${id}`])
      assert.ok(answer.fields.includes(field), `${line}: ${answer.fields}`);
  }
  await daemon.get('/health'); // the lines arrive over a pipe
  for (const [at, [line, , status]] of cases.entries())
    assert.deepEqual(linesOf(`raw-${at}`), [['a request was answered', line.split(' ')[0], status]]);
});
