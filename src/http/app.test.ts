import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, GatewayError } from '../../protocol/errors.ts';
import { hasBody } from '../../protocol/http/endpoint.ts';
import { ENDPOINTS } from '../../protocol/http/index.ts';
import { bodyOf } from '../testing/answer-body.ts';
import { httpEdge } from '../testing/http-edge.ts';

const rows = Object.values(ENDPOINTS).flatMap((group) => Object.values(group));

const FORM = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n--x--\r\n';

/** The required fields of all endpoints; `q`, `query` and `msg_id` are those of a query. */
const JSON_BODY = JSON.stringify({
  approved: true,
  message: 'hi',
  feedback: '',
  turns: 1,
  send: true,
  revoke: ['bash'],
  title: 'mine',
  path: 'x',
  seen: 'x',
  role_id: 'builtin-viewer',
  model: 'demo',
  action: 'ask',
  match: { host: 'example.org' },
  subject: 'x',
  config: { mcpServers: {} },
  registry_name: 'x',
  format: 'headgate-conversation',
  version: 1,
  messages: [{ role: 'user', createdMs: 1, content: 'hi' }],
});

test('every endpoint row is served', async () => {
  const failing = () => {
    throw new GatewayError('BUSY', 'reached');
  };
  const answer = async () => failing();
  const attachments = {
    receive: answer,
    list: answer,
    open: answer,
    remove: answer,
    staged: { stage: answer, release: answer },
  };
  const hook = { maxBytes: 1_000, verify: () => failing(), receive: answer };
  await using edge = await httpEdge({ answer, attachments, exports: { open: answer }, findHook: async () => hook });
  for (const { verb, path, answers, body: kind } of rows) {
    if (answers === 'event-stream') continue;
    const body = kind === 'multipart' ? FORM : verb === 'post' ? JSON_BODY : '';
    const type = kind === 'multipart' ? 'multipart/form-data; boundary=x' : 'application/json';
    const headers = { authorization: 'Bearer service', 'content-type': type };
    const target = hasBody(verb) ? path : `${path}?q=x&query=x&msg_id=x&path=x`;
    const [status, json] = await edge.sendJson({ method: verb.toUpperCase(), path: target, headers, body });
    assert.deepEqual([path, status, json], [path, 409, { error: 'reached' }]);
  }
});

test('an endpoint that is not public answers 401 without a token and 403 without the scope', async () => {
  await using edge = await httpEdge();
  for (const { verb, path, scope } of rows) {
    if (scope === 'public') continue;
    const method = verb.toUpperCase();
    const challenge = await edge.send({ method, path });
    assert.deepEqual(
      [path, challenge.status, challenge.headers['www-authenticate'], bodyOf(challenge)],
      [path, 401, 'Bearer', { error: 'Unauthorized: missing or invalid token' }],
    );
    if (scope === 'read') continue;
    const lesser = scope === 'approve' ? 'write' : 'read';
    assert.deepEqual(await edge.sendJson({ method, path, headers: { authorization: `Bearer ${lesser}` } }), [
      403,
      { error: `Forbidden: token lacks '${scope}' scope` },
    ]);
  }
  assert.deepEqual(edge.asked, []);
});

test('an error of the gateway becomes its status with its message', async () => {
  const expected: Record<ErrorCode, number> = {
    INVALID_REQUEST: 400,
    UNAUTHORIZED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    CONFLICT: 409,
    BUSY: 409,
    RATE_LIMITED: 429,
    PAYLOAD_TOO_LARGE: 413,
    UNAVAILABLE: 503,
    UPSTREAM_FAILED: 502,
    TIMEOUT: 504,
    AGENT_TIMEOUT: 504,
    OUTPUT_MISMATCH: 502,
    NOT_PAIRED: 403,
    NOT_LINKED: 409,
    INTERNAL: 500,
  };
  let code: ErrorCode = 'INTERNAL';
  await using edge = await httpEdge({
    answer: () => {
      throw new GatewayError(code, `it was ${code}`, { retryAfterMs: 1_500 });
    },
  });
  for (code of Object.keys(expected) as ErrorCode[]) {
    const { status, headers, text } = await edge.send({
      path: '/v1/api/workstreams',
      headers: { authorization: 'Bearer read', 'x-request-id': 'mine' },
    });
    assert.deepEqual(
      [code, status, headers['retry-after'], headers['x-request-id'], JSON.parse(text)],
      [code, expected[code], '2', 'mine', { error: `it was ${code}`, request_id: 'mine' }],
    );
  }
});

test('an unforeseen error is logged, and hidden from the client', async () => {
  await using edge = await httpEdge({
    answer: () => {
      throw new Error('SELECT secret FROM /home/ada');
    },
  });
  assert.deepEqual(await edge.post('/v1/api/workstreams/close', { ws_id: 'a' }), [500, { error: 'Internal error' }]);
  assert.deepEqual(edge.log.lines, [
    ['error', 'a request failed'],
    ['debug', 'a request was answered'],
  ]);
  assert.deepEqual(
    edge.log.fields.map((fields) => Reflect.get(fields, 'requestId')),
    ['edge-1', 'edge-1'],
  );
});

test('an answer has the headers of the specification and none of Express', async () => {
  await using edge = await httpEdge({ answer: () => ({ workstreams: [] }) });
  const { headers } = await edge.send({ path: '/v1/api/workstreams', headers: { authorization: 'bEaReR read' } });
  const { date: _date, ...rest } = headers;
  assert.deepEqual(rest, {
    'access-control-allow-origin': '*',
    'content-type': 'application/json',
    'content-length': '18',
    'x-request-id': 'edge-1',
    connection: 'close',
  });
});

test('OPTIONS on any path is 200, empty, with the three headers', async () => {
  await using edge = await httpEdge();
  for (const path of ['/', '/v1/api/send', '/nowhere']) {
    const { status, headers, text } = await edge.send({
      method: 'OPTIONS',
      path,
      headers: { origin: 'http://evil.test' },
    });
    const { date: _date, connection: _connection, 'x-request-id': _id, ...rest } = headers;
    assert.deepEqual(
      [status, text, rest],
      [
        200,
        '',
        {
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, POST, OPTIONS',
          'access-control-allow-headers': 'Content-Type',
          'content-length': '0',
        },
      ],
    );
  }
});

test('an unknown path and a known one with another method are 404 in plain text', async () => {
  await using edge = await httpEdge();
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['GET', '/v1/api/send'],
    ['DELETE', '/v1/api/workstreams'],
    ['POST', '/'],
    ['GET', '/v1/api/workstreams/'],
    ['GET', '/%E0%A4%A'],
    ['HEAD', '/v1/api/events/global'],
  ] as const) {
    const { status, headers, text } = await edge.send({ method, path });
    const body = method === 'HEAD' ? '' : 'Not found';
    assert.deepEqual([path, status, headers['content-type'], text], [path, 404, 'text/plain; charset=utf-8', body]);
  }
  assert.deepEqual(edge.counted.at(0), ['GET', 'other', 404]);
});

test('send, new and approve pass on their Idempotency-Key; others do not', async () => {
  await using edge = await httpEdge({ answer: () => ({ status: 'ok' }) });
  const key = { 'idempotency-key': 'k1' };
  await edge.post('/v1/api/send', { ws_id: 'a', message: 'hi' }, key);
  await edge.post('/v1/api/approve', { ws_id: 'a', approved: true }, key);
  await edge.post('/v1/api/workstreams/new', {}, key);
  await edge.post('/v1/api/command', { ws_id: 'a', command: '/help' }, key);
  assert.deepEqual(
    edge.asked.map(({ params }) => JSON.parse(JSON.stringify(params))),
    [
      { wsId: 'a', message: 'hi', attachmentIds: 'pending', idempotencyKey: 'k1' },
      { wsId: 'a', approved: true, always: false, idempotencyKey: 'k1' },
      { autoApprove: false, idempotencyKey: 'k1' },
      { wsId: 'a', command: '/help' },
    ],
  );
});

test('an Idempotency-Key beyond 256 characters is refused', async () => {
  await using edge = await httpEdge();
  assert.deepEqual(
    await edge.post('/v1/api/send', { ws_id: 'a', message: 'hi' }, { 'idempotency-key': 'k'.repeat(257) }),
    [400, { error: 'Idempotency-Key: must have 1 to 256 characters' }],
  );
});

test('without a boolean `approved`, nothing is decided', async () => {
  await using edge = await httpEdge();
  for (const approved of [undefined, null, 'true', 1, {}, []]) {
    assert.deepEqual(await edge.post('/v1/api/approve', { ws_id: 'a', approved }), [
      400,
      { error: 'approved: must be true or false' },
    ]);
  }
  assert.deepEqual(edge.asked, []);
});

test('a refused field is named and its value not repeated', async () => {
  await using edge = await httpEdge();
  const [status, body] = await edge.post('/v1/api/send', { ws_id: ['canary-7731'], message: { canary: 1 } });
  assert.equal(status, 400);
  assert.match(JSON.stringify(body), /message: .*ws_id: /);
  assert.doesNotMatch(JSON.stringify(body), /canary/);
});

test('force counts only as exactly true', async () => {
  await using edge = await httpEdge({
    answer: () => Promise.reject(new GatewayError('INVALID_REQUEST', 'No session')),
  });
  for (const force of [true, 'true', 1, null, undefined]) await edge.post('/v1/api/cancel', { ws_id: 'a', force });
  assert.deepEqual(
    edge.asked.map(({ params }) => (params as { force: boolean }).force),
    [true, false, false, false, false],
  );
});

test('a handler gets the client address, and a signal when the client disconnects', async () => {
  let left: (reason: unknown) => void = () => undefined;
  const leaving = new Promise((resolve) => {
    left = resolve;
  });
  await using edge = await httpEdge({
    answer: ({ caller }) => {
      caller.signal.addEventListener('abort', () => left(caller.signal.reason));
      edge.server.closeAllConnections();
      return new Promise(() => undefined);
    },
  });
  void edge.post('/v1/api/send', { ws_id: 'a', message: 'hi' }).catch(() => undefined);
  assert.match(String(await leaving), /the client disconnected/);
  assert.equal(edge.asked[0]?.caller.address, '127.0.0.1');
});

test('requests are counted by their row, not by their URL', async () => {
  await using edge = await httpEdge({ answer: () => ({ workstreams: [] }) });
  await edge.send({ path: '/v1/api/workstreams?x=1', headers: { authorization: 'Bearer read' } });
  await edge.send({ path: '/metrics' });
  assert.deepEqual(edge.counted, [
    ['GET', '/v1/api/workstreams', 200],
    ['GET', '/metrics', 200],
  ]);
});
