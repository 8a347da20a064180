import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { type Clock, systemClock } from '../../../clock.ts';
import { createGuardedEgress, EgressError } from '../../../egress/guarded-egress.ts';
import { closeServer, listen } from '../../../listen.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { Upload } from '../calls/form-body.ts';
import { createBotApi } from './bot-api.ts';
import { BotApiError } from './wire/bot-api-error.ts';

const TOKEN = '4242:canary-Token_of-the-bot';
const { fetch } = createGuardedEgress({ privateHosts: () => [], environment: {} });
const { signal } = new AbortController();
const LIMITS = { signal, timeoutMs: 30_000 };

async function serve(t: TestContext, listener: RequestListener, clock: Clock = systemClock) {
  const server = createServer(listener);
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  t.after(() => closeServer(server));
  return createBotApi({ token: TOKEN, apiRoot: `http://127.0.0.1:${port}/`, fetch, clock });
}

const answering =
  (status: number, body: unknown): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const refusal = (error_code: number, description: string, parameters = {}) =>
  answering(error_code, { ok: false, error_code, description, parameters });

/** The error of a call, which names the token nowhere. */
async function errorOf(failing: Promise<unknown>): Promise<BotApiError> {
  const error = await failing.then(
    () => assert.fail('it did not fail'),
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof BotApiError, inspect(error));
  assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /canary/);
  return error;
}

test('a call sends its parameters as JSON, and returns the result', async (t) => {
  const seen: unknown[] = [];
  const api = await serve(t, async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    seen.push(request.method, request.url, JSON.parse(text));
    response.end(JSON.stringify({ ok: true, result: { message_id: 7 } }));
  });
  const sent = await api.call('sendMessage', { chat_id: 5, text: 'hello' }, LIMITS);
  assert.deepEqual([sent.message_id, seen], [7, ['POST', `/bot${TOKEN}/sendMessage`, { chat_id: 5, text: 'hello' }]]);
});

test('an upload is sent as a form', async (t) => {
  let form = new FormData();
  const api = await serve(t, async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    form = await new Response(Buffer.concat(chunks), { headers }).formData();
    response.end(JSON.stringify({ ok: true, result: { message_id: 7 } }));
  });
  const photo = new Upload({ fileName: 'a"\r\n.png', contentType: 'image/png', bytes: Buffer.from([0, 255, 13, 10]) });
  await api.call('sendPhoto', { chat_id: 5, photo, caption: 'é', reply_parameters: { message_id: 1 } }, LIMITS);
  const file = form.get('file0');
  assert.ok(file instanceof File);
  assert.deepEqual(
    [file.name, file.type, Buffer.from(await file.arrayBuffer())],
    ['a"\r\n.png', 'image/png', photo.bytes],
  );
  assert.deepEqual(
    ['chat_id', 'photo', 'caption', 'reply_parameters'].map((name) => form.get(name)),
    ['5', 'attach://file0', 'é', '{"message_id":1}'],
  );
});

for (const [name, listener, expected] of [
  ['401', refusal(401, 'Unauthorized'), { kind: 'unauthorized', code: 401 }],
  ['404', refusal(404, 'Not Found'), { kind: 'unauthorized', code: 404 }],
  ['409', refusal(409, 'Conflict: terminated'), { kind: 'conflict', code: 409 }],
  ['429', refusal(429, 'Too Many Requests', { retry_after: 7 }), { kind: 'rate-limited', retryAfterMs: 7_000 }],
  ['429 for years', refusal(429, 'No', { retry_after: 1e9 }), { kind: 'rate-limited', retryAfterMs: 86_400_000 }],
  ['429 with a word', refusal(429, 'No', { retry_after: 'soon' }), { kind: 'rate-limited', retryAfterMs: 1_000 }],
  ['400', refusal(400, "Bad Request: can't parse"), { kind: 'rejected', description: "Bad Request: can't parse" }],
  ['403', refusal(403, 'Forbidden: blocked'), { kind: 'rejected', code: 403 }],
  [
    'a moved group',
    refusal(400, 'Bad Request', { migrate_to_chat_id: -100 }),
    { kind: 'rejected', migrateToChatId: -100 },
  ],
  ['500', refusal(500, 'Internal Server Error'), { kind: 'ambiguous', code: 500 }],
  ['502 in HTML', answering(502, '<h1>Bad Gateway</h1>'), { kind: 'ambiguous', code: 502 }],
  ['401 in HTML, perhaps of a proxy', answering(401, '<h1>Login</h1>'), { kind: 'ambiguous', code: 401 }],
  ['half of a JSON', answering(200, '{"ok":true,"resu'), { kind: 'ambiguous' }],
  ['a result that is missing', answering(200, { ok: true }), { kind: 'ambiguous' }],
  ['a result of another shape', answering(200, { ok: true, result: true }), { kind: 'ambiguous', code: 200 }],
  [
    'an answer with a reason that is no text',
    answering(400, { ok: false, error_code: 400, description: { toString: 1 } }),
    { kind: 'rejected', description: '' },
  ],
  ['a long reason', refusal(400, 'x'.repeat(1_000_000)), { kind: 'rejected', description: `${'x'.repeat(300)}…` }],
  ['a login page', answering(200, '<h1>Login</h1>'), { kind: 'ambiguous' }],
  ['a redirect', (_, response) => void response.writeHead(302, { location: '/x' }).end(), { kind: 'ambiguous' }],
  ['a reset', (request) => void request.socket.resetAndDestroy(), { kind: 'ambiguous' }],
  [
    'an answer that is cut',
    (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
    { kind: 'ambiguous' },
  ],
  [
    'an error that repeats the token',
    refusal(400, `Bad Request: ${TOKEN}`),
    { kind: 'rejected', description: 'Bad Request: [bot token]' },
  ],
] satisfies [string, RequestListener, Partial<BotApiError>][])
  test(`${name} is ${expected.kind}`, async (t) => {
    const api = await serve(t, listener);
    assert.partialDeepStrictEqual({ ...(await errorOf(api.call('getMe', {}, LIMITS))) }, expected);
  });

test('a server that refuses connections certainly received nothing', async () => {
  const server = createServer();
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  await closeServer(server);
  const api = createBotApi({ token: TOKEN, apiRoot: `http://127.0.0.1:${port}`, fetch, clock: systemClock });
  const { kind, message } = await errorOf(api.call('getMe', {}, LIMITS));
  assert.deepEqual({ kind, message }, { kind: 'unreachable', message: 'Could not reach Telegram (ECONNREFUSED).' });
});

const coded = (code: string, rest: object = {}) =>
  Object.assign(new Error(`${code} /bot${TOKEN}/getMe`), { code }, rest);

for (const [name, cause, kind] of [
  ['an unknown name', coded('ENOTFOUND', { syscall: 'getaddrinfo' }), 'unreachable'],
  ['an expired certificate', coded('CERT_HAS_EXPIRED'), 'unreachable'],
  ['a connection that takes too long', coded('UND_ERR_CONNECT_TIMEOUT'), 'unreachable'],
  ['a reset while connecting', coded('ECONNRESET', { syscall: 'connect' }), 'unreachable'],
  [
    'a reset in the handshake',
    new Error('Client network socket disconnected before secure TLS connection was established'),
    'unreachable',
  ],
  ['a proxy that refuses', new Error('Proxy response (502) !== 200 when HTTP Tunneling'), 'unreachable'],
  [
    'several addresses that refuse',
    Object.assign(new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]), { code: 'ECONNREFUSED' }),
    'unreachable',
  ],
  ['a private address', new EgressError('address', `x resolves to 10.0.0.1 ${TOKEN}`), 'unreachable'],
  ['a redirect', new EgressError('redirect', 'redirected'), 'ambiguous'],
  ['a reset', coded('ECONNRESET', { syscall: 'read' }), 'ambiguous'],
  ['a closed connection', coded('UND_ERR_SOCKET'), 'ambiguous'],
  ['a bad record', coded('ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'), 'ambiguous'],
  ['anything else', new Error(`https://api.example/bot${TOKEN}/getMe`), 'ambiguous'],
] as const)
  test(`${name} is ${kind}`, async () => {
    const failing = async () => {
      throw new TypeError('fetch failed', { cause });
    };
    const api = createBotApi({ token: TOKEN, apiRoot: 'https://api.example', fetch: failing, clock: systemClock });
    assert.equal((await errorOf(api.call('sendMessage', { chat_id: 1, text: 'x' }, LIMITS))).kind, kind);
  });

test('an answer that does not come in time is ambiguous, and the connection is closed', async (t) => {
  const clock = fakeClock();
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const api = await serve(
    t,
    (_, response) => {
      response.once('close', closed.resolve);
      arrived.resolve();
    },
    clock,
  );
  const failing = errorOf(api.call('sendMessage', { chat_id: 1, text: 'x' }, LIMITS));
  await arrived.promise;
  await clock.advance(30_000);
  const { kind, message } = await failing;
  await closed.promise;
  assert.deepEqual(
    [kind, message],
    ['ambiguous', 'There was no usable answer to sendMessage (none within 30 s). Telegram may have carried it out.'],
  );
});

test('a call that changes nothing leaves nothing open when it gets no answer', async (t) => {
  const api = await serve(t, answering(502, '<h1>Bad Gateway</h1>'));
  const messages = [
    errorOf(api.call('getMe', {}, LIMITS)),
    errorOf(api.call('getFile', { file_id: 'x' }, LIMITS)),
    errorOf(api.call('setMyCommands', { commands: [] }, LIMITS)),
  ];
  assert.deepEqual(
    (await Promise.all(messages)).map(({ message }) => message),
    [
      'There was no usable answer to getMe (HTTP 502).',
      'There was no usable answer to getFile (HTTP 502).',
      'There was no usable answer to setMyCommands (HTTP 502). Telegram may have carried it out.',
    ],
  );
});

test('a cancelled call is ambiguous once it is sent, and unreachable before', async (t) => {
  const cancelling = new AbortController();
  const arrived = Promise.withResolvers<void>();
  const api = await serve(t, () => arrived.resolve());
  const limits = { ...LIMITS, signal: cancelling.signal };
  const failing = errorOf(api.call('getMe', {}, limits));
  await arrived.promise;
  cancelling.abort();
  assert.match((await failing).message, /\(cancelled\)/);
  assert.deepEqual(
    [(await failing).kind, (await errorOf(api.call('getMe', {}, limits))).kind],
    ['ambiguous', 'unreachable'],
  );
});

test('a malformed token is not sent anywhere', async () => {
  const api = createBotApi({
    token: 'a/../canary',
    apiRoot: 'https://x.example',
    fetch: () => assert.fail('sent'),
    clock: systemClock,
  });
  assert.equal((await errorOf(api.call('getMe', {}, LIMITS))).kind, 'unauthorized');
});

test('a file is downloaded in pieces', async (t) => {
  const api = await serve(
    t,
    ({ url }, response) => void response.writeHead(200, { 'content-length': url?.length }).end(url),
  );
  const { size, bytes } = await api.openFile('photos/file 1?.jpg', { ...LIMITS, maxBytes: 100 });
  const text = Buffer.concat(await toArray(bytes)).toString();
  assert.deepEqual([text, size], [`/file/bot${TOKEN}/photos/file%201%3F.jpg`, text.length]);
});

test('a file that is announced as too large is not downloaded, and one that turns out to be is not read further', async (t) => {
  const api = await serve(t, ({ url }, response) => {
    response.writeHead(200, url?.endsWith('/honest') ? { 'content-length': 100 } : {}).end('x'.repeat(100));
  });
  const limits = { ...LIMITS, maxBytes: 99 };
  assert.equal((await errorOf(api.openFile('honest', limits))).kind, 'too-large');
  const { size, bytes } = await api.openFile('silent', limits);
  assert.deepEqual([size, (await errorOf(toArray(bytes))).kind], [undefined, 'too-large']);
});

test('a file that is gone is refused, and one that breaks off throws', async (t) => {
  const api = await serve(t, ({ url }, response) => {
    if (url?.endsWith('/gone')) response.writeHead(404).end('{}');
    else response.writeHead(200, { 'content-length': 99 }).write('x', () => response.destroy());
  });
  const limits = { ...LIMITS, maxBytes: 99 };
  assert.partialDeepStrictEqual({ ...(await errorOf(api.openFile('gone', limits))) }, { kind: 'rejected', code: 404 });
  const { bytes } = await api.openFile('half', limits);
  assert.equal((await errorOf(toArray(bytes))).kind, 'ambiguous');
});

test('a download ends when no piece comes for the time limit, and not while pieces come', async (t) => {
  const clock = fakeClock();
  const opened = Promise.withResolvers<(text: string) => void>();
  const api = await serve(
    t,
    (_, response) => {
      response.writeHead(200).flushHeaders();
      opened.resolve((text) => void response.write(text));
    },
    clock,
  );
  const { bytes } = await api.openFile('slow', { ...LIMITS, maxBytes: 99 });
  const pieces = bytes[Symbol.asyncIterator]();
  const write = await opened.promise;
  for (const text of ['a', 'b', 'c']) {
    write(text);
    assert.equal(Buffer.from((await pieces.next()).value ?? []).toString(), text);
    await clock.advance(20_000);
  }
  const failing = errorOf(pieces.next());
  await clock.advance(10_000);
  assert.match((await failing).message, /broke off \(none within 30 s\)/);
});

async function toArray<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
