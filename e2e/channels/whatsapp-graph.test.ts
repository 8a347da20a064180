import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { Clock } from '../../src/clock.ts';
import { systemClock } from '../../src/clock.ts';
import { createGuardedEgress } from '../../src/egress/guarded-egress.ts';
import { createGraphApi, type GraphApi } from '../../src/gateway/channels/whatsapp/graph-api.ts';
import { GraphError } from '../../src/gateway/channels/whatsapp/graph-error.ts';
import { closeServer, listen } from '../../src/listen.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { type GraphFault, startGraphServer } from '../support/channels/whatsapp/graph-server.ts';

const TOKEN = 'canary-access-token';
const ADA = '491701234567';
const { fetch } = createGuardedEgress({ privateHosts: () => [], environment: {} });
const { signal } = new AbortController();
const LIMITS = { signal, timeoutMs: 30_000 };
const HELLO = { type: 'text', text: 'hello' } as const;
const DAY_MS = 24 * 3_600_000;

async function setUp({ clock = systemClock, accessToken = TOKEN }: { clock?: Clock; accessToken?: string } = {}) {
  let nowMs = 0;
  const graph = await startGraphServer({
    ...{ phoneNumberId: '555', accessToken: TOKEN, templates: ['answer_ready'], nowMs: () => nowMs },
  });
  graph.wrote(ADA);
  const api = createGraphApi({ phoneNumberId: '555', accessToken, apiRoot: graph.apiRoot, fetch, clock });
  return {
    ...{ graph, api },
    pass: (ms: number) => {
      nowMs += ms;
    },
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  };
}

/** The error of a call, which names the token nowhere. */
async function errorOf(failing: Promise<unknown>): Promise<GraphError> {
  const error = await failing.then(
    () => assert.fail('it did not fail'),
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof GraphError, inspect(error));
  assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /canary/);
  return error;
}

async function readAll(api: GraphApi, id: string, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await api.openMedia(id, { ...LIMITS, maxBytes })).bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('a message is sent with its token, and has the id that WhatsApp gave it', async () => {
  await using stage = await setUp();
  assert.equal(await stage.api.send(ADA, { ...HELLO, replyTo: 'wamid.before' }, LIMITS), 'wamid.1');
  assert.deepEqual(stage.graph.accepted[0]?.body, {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: ADA,
    context: { message_id: 'wamid.before' },
    type: 'text',
    text: { body: 'hello', preview_url: false },
  });
});

test('a file is uploaded with its type and name, and a message names it by its id', async () => {
  await using stage = await setUp();
  const file = { fileName: 'a "list".csv', contentType: 'text/csv', bytes: Buffer.from('a,b') };
  const id = await stage.api.upload(file, LIMITS);
  assert.deepEqual(
    [id, stage.graph.uploads],
    ['upload-1', [{ type: 'text/csv', fileName: 'a "list".csv', text: 'a,b' }]],
  );
  await stage.api.send(ADA, { type: 'document', media: { id, fileName: file.fileName }, caption: 'look' }, LIMITS);
  assert.deepEqual(stage.graph.accepted[0]?.body.document, { id, filename: file.fileName, caption: 'look' });
  const odd = stage.api.upload({ ...file, contentType: 'application/octet-stream' }, LIMITS);
  assert.equal((await errorOf(odd)).kind, 'rejected');
});

test('24 hours after the last message of a person only an approved template is sent', async () => {
  await using stage = await setUp();
  stage.pass(DAY_MS - 1);
  assert.equal(await stage.api.send(ADA, HELLO, LIMITS), 'wamid.1');
  stage.pass(1);
  const error = await errorOf(stage.api.send(ADA, HELLO, LIMITS));
  assert.deepEqual([error.kind, error.code, error.needsTemplate], ['rejected', 131_047, true]);
  const template = { type: 'template', language: 'en', parameters: ['9:00'] } as const;
  assert.equal(await stage.api.send(ADA, { ...template, name: 'answer_ready' }, LIMITS), 'wamid.2');
  const unknown = await errorOf(stage.api.send(ADA, { ...template, name: 'nothing' }, LIMITS));
  assert.deepEqual([unknown.kind, unknown.code, unknown.needsTemplate], ['rejected', 132_001, false]);
  assert.deepEqual(
    stage.graph.accepted.map(({ body }) => body.type),
    ['text', 'template'],
  );
});

test('each code of a refusal says whether to wait, to change the token, or to give the message up', async () => {
  await using stage = await setUp();
  const codes = [
    [4, 400, 'rate-limited', 60_000],
    [80_007, 400, 'rate-limited', 60_000],
    [130_429, 429, 'rate-limited', 1_000],
    [131_048, 400, 'rate-limited', 60_000],
    [131_056, 400, 'rate-limited', 6_000],
    [0, 401, 'unauthorized', undefined],
    [10, 403, 'unauthorized', undefined],
    [190, 401, 'unauthorized', undefined],
    [200, 403, 'unauthorized', undefined],
    [299, 403, 'unauthorized', undefined],
    [300, 400, 'rejected', undefined],
    [131_026, 400, 'rejected', undefined],
  ] as const;
  for (const [code, status, kind, retryAfterMs] of codes) {
    stage.graph.fail({ kind: 'error', status, code, message: `not ${TOKEN}` });
    const error = await errorOf(stage.api.send(ADA, HELLO, LIMITS));
    assert.deepEqual([error.kind, error.retryAfterMs, error.code], [kind, retryAfterMs, code]);
  }
  assert.deepEqual(stage.graph.accepted, []);
});

test('a wrong token is refused, and the error does not name it', async () => {
  await using stage = await setUp({ accessToken: 'canary-of-another' });
  assert.equal((await errorOf(stage.api.send(ADA, HELLO, LIMITS))).kind, 'unauthorized');
});

test('an answer that never comes, breaks off or cannot be read leaves open whether the message was sent', async () => {
  const faults: readonly [GraphFault, accepted: number][] = [
    [{ kind: 'reset', taken: true }, 1],
    [{ kind: 'reset', taken: false }, 0],
    [{ kind: 'garbled' }, 1],
    [{ kind: 'status', status: 502 }, 0],
    [{ kind: 'error', status: 500, code: 131_000, message: 'Something went wrong' }, 0],
  ];
  for (const [fault, accepted] of faults) {
    await using stage = await setUp();
    stage.graph.fail(fault);
    const error = await errorOf(stage.api.send(ADA, HELLO, LIMITS));
    assert.deepEqual([error.kind, stage.graph.accepted.length], ['ambiguous', accepted], inspect(fault));
  }
});

test('a stalled answer ends at the time limit, and leaves open whether the message was sent', async () => {
  const clock = fakeClock();
  await using stage = await setUp({ clock });
  const reached = Promise.withResolvers<void>();
  stage.graph.fail({ kind: 'stall', onReached: reached.resolve });
  const failing = errorOf(stage.api.send(ADA, HELLO, LIMITS));
  await reached.promise;
  await clock.advance(30_000);
  const { kind, message } = await failing;
  assert.deepEqual([kind, message.includes('none within 30 s')], ['ambiguous', true]);
});

test('a message to a port where nobody listens was certainly not sent', async () => {
  const server = createServer();
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  await closeServer(server);
  const deps = { phoneNumberId: '555', accessToken: TOKEN, fetch, clock: systemClock };
  const api = createGraphApi({ ...deps, apiRoot: `http://127.0.0.1:${port}/v23.0` });
  assert.equal((await errorOf(api.send(ADA, HELLO, LIMITS))).kind, 'unreachable');
});

test('a message is marked as read, with and without typing', async () => {
  await using stage = await setUp();
  await stage.api.markRead('wamid.in1', { ...LIMITS, isTyping: true });
  await stage.api.markRead('wamid.in2', { ...LIMITS, isTyping: false });
  assert.deepEqual(stage.graph.read, [
    { id: 'wamid.in1', isTyping: true },
    { id: 'wamid.in2', isTyping: false },
  ]);
});

test('a file is downloaded by its id, up to its limit, whatever size the server claims', async () => {
  await using stage = await setUp();
  stage.graph.file('m1', Buffer.from('0123456789'));
  stage.graph.file('m2', Buffer.from('0123456789'), { claims: 1 });
  assert.equal(await readAll(stage.api, 'm1', 10), '0123456789');
  assert.equal((await errorOf(readAll(stage.api, 'm1', 9))).kind, 'too-large');
  assert.equal((await errorOf(readAll(stage.api, 'm2', 9))).kind, 'too-large');
  assert.equal((await errorOf(readAll(stage.api, 'gone', 9))).kind, 'rejected');
});

test('the token goes to no address that is not of WhatsApp', async () => {
  await using stage = await setUp();
  const asked: unknown[] = [];
  const other = createServer((request, response) => {
    asked.push(request.headers);
    response.end('stolen');
  });
  const port = await listen(other, { host: '127.0.0.1', port: 0 });
  for (const url of [`http://127.0.0.1:${port}/x`, 'https://evilwhatsapp.net/x', 'http://lookaside.fbsbx.com/x', ':']) {
    stage.graph.file('m1', Buffer.from('x'), { url });
    const error = await errorOf(readAll(stage.api, 'm1', 10));
    assert.deepEqual([error.kind, error.message.includes('not its own')], ['rejected', true], url);
  }
  await closeServer(other);
  assert.deepEqual(asked, []);
});
