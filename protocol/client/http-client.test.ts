import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { endpoint } from '../http/endpoint.ts';
import { workstreamEndpoints } from '../http/workstream.ts';
import { endpoints } from './endpoint-addresses.ts';
import { createHttpClient } from './http-client.ts';
import { refusal } from './testing/connected-client.ts';
import { fakeTimers, settled } from './testing/fake-timers.ts';

interface Seen {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** A fetch that returns the responses of a list in order and records the requests. */
function scriptedFetch(...responses: Response[]) {
  const seen: Seen[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const headers = Object.fromEntries(request.headers);
    seen.push({ url: request.url, method: request.method, headers, body: await request.text() });
    const response = responses.shift();
    if (response === undefined) throw new TypeError('fetch failed');
    return response;
  };
  return { fetch, seen };
}

const BASE = 'http://127.0.0.1:7717';

test('a POST sends its fields as JSON, the token and the idempotency key', async () => {
  const { fetch, seen } = scriptedFetch(Response.json({ status: 'ok', run_id: 'r' }));
  const client = createHttpClient({ baseUrl: BASE, token: 'secret', fetch });
  const reply = await client.call(workstreamEndpoints.send, { ws_id: 'w', message: 'hi' }, { idempotencyKey: 'k' });
  assert.deepEqual(reply, { status: 'ok', run_id: 'r' });
  assert.deepEqual(seen, [
    {
      url: `${BASE}/v1/api/send`,
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json', 'idempotency-key': 'k' },
      body: '{"ws_id":"w","message":"hi"}',
    },
  ]);
});

test('a PUT sends the fields outside its path in its body; a path field may contain slashes; a 204 has no value', async () => {
  const { fetch, seen } = scriptedFetch(new Response(null, { status: 204 }));
  const client = createHttpClient({ baseUrl: BASE, fetch });
  const put = endpoint({
    verb: 'put',
    path: '/v1/api/notes/{id}/{+place}',
    summary: 'Made for this test.',
    scope: 'write',
    status: 204,
    request: () => z.object({ id: z.string(), place: z.string(), text: z.string() }),
    reply: () => z.undefined(),
  });
  assert.equal(await client.call(put, { id: 'a/b', place: 'c/d e', text: 'hi' }), undefined);
  assert.deepEqual(seen, [
    {
      url: `${BASE}/v1/api/notes/a%2Fb/c/d%20e`,
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"hi"}',
    },
  ]);
});

test('a GET sends its fields as a query', async () => {
  const { fetch, seen } = scriptedFetch(Response.json({ workstreams: [] }));
  const client = createHttpClient({ baseUrl: BASE, fetch });
  assert.deepEqual(await client.call(workstreamEndpoints.saved, { limit: 5 }), { workstreams: [] });
  assert.deepEqual(seen, [{ url: `${BASE}/v1/api/workstreams/saved?limit=5`, method: 'GET', headers: {}, body: '' }]);
});

test('an error status rejects with the daemon’s message, the id of the request and the retry delay', async () => {
  const { fetch } = scriptedFetch(
    Response.json({ error: 'Unknown workstream', request_id: 'b-1' }, { status: 404 }),
    Response.json({ error: 'Rate limit exceeded' }, { status: 429, headers: { 'Retry-After': '2' } }),
    new Response('Not found', { status: 404, headers: { 'X-Request-Id': 'b-2' } }),
    new Response('', { status: 502 }),
  );
  const client = createHttpClient({ baseUrl: BASE, fetch });
  const list = () => refusal(client.call(workstreamEndpoints.list, {}));
  assert.deepEqual(
    [await list(), await list(), await list(), await list()],
    [
      { name: 'HttpError', message: 'Unknown workstream', status: 404, requestId: 'b-1' },
      { name: 'HttpError', message: 'Rate limit exceeded', status: 429, retryAfterMs: 2000 },
      { name: 'HttpError', message: 'Not found', status: 404, requestId: 'b-2' },
      { name: 'HttpError', message: 'status 502', status: 502 },
    ],
  );
});

/** A fetch that never answers until it is aborted. */
const silentFetch = (_: unknown, init?: RequestInit) =>
  new Promise<Response>((_, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason), { once: true });
  });

test('a call without an answer ends at its timeout, by default 30 s, or by its signal', async () => {
  const timers = fakeTimers();
  const client = createHttpClient({ baseUrl: BASE, fetch: silentFetch, timers });
  const told: string[] = [];
  const list = async (options?: { timeoutMs?: number; signal?: AbortSignal }) => {
    const { name, message } = await refusal(client.call(endpoints.workstream.list, {}, options));
    told.push(`${timers.now()} ${name}: ${message}`);
  };
  const controller = new AbortController();
  const calls = [list(), list({ timeoutMs: 50 }), list({ signal: controller.signal })];
  await timers.advance(100);
  controller.abort(new Error('enough'));
  await settled();
  await timers.advance(29_900);
  await Promise.all(calls);
  assert.deepEqual(told, [
    '50 TimeoutError: no answer within 50 ms',
    '100 Error: enough',
    '30000 TimeoutError: no answer within 30000 ms',
  ]);
});

test('an upload has another minute for every 256 KiB, as the daemon allows', async () => {
  const timers = fakeTimers();
  const client = createHttpClient({ baseUrl: BASE, fetch: silentFetch, timers });
  const file = new File([new Uint8Array(1_000_000)], 'notes.txt');
  const refused = refusal(client.call(endpoints.attachment.upload, { ws_id: 'w', file }));
  await timers.advance(10 * 60_000);
  assert.deepEqual(await refused, { name: 'TimeoutError', message: 'no answer within 270000 ms' });
});

/** An event stream that the test feeds; `text` is written at once. */
function openStream(text = '') {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, {
    highWaterMark: 100,
  });
  const writer = writable.getWriter();
  const write = (more: string) => writer.write(new TextEncoder().encode(more));
  if (text !== '') write(text);
  const response = new Response(readable, { headers: { 'Content-Type': 'text/event-stream' } });
  return { response, write, end: () => writer.close() };
}

const CONNECTED = 'data: {"type":"connected","recovered":true}\n\n';
const TRUNCATED = 'data: {"type":"replay_truncated","lost_count":0,"earliest_available_id":"e:1"}\n\n';
const frame = (id: string, text: string) => `id: ${id}\ndata: {"type":"content","text":"${text}"}\n\n`;
const history = (id: string) => `id: ${id}\ndata: {"type":"history","messages":[]}\n\n`;

/** Follows a stream until the scripted responses are used up, and returns its events by type and id. */
async function follow(responses: Response[], options: { after?: string; resume?: boolean } = {}) {
  const { fetch, seen } = scriptedFetch(...responses);
  const timers = fakeTimers();
  const controller = new AbortController();
  const told: string[] = [];
  const events = createHttpClient({ baseUrl: BASE, fetch, timers }).events('w', {
    ...options,
    signal: controller.signal,
  });
  const reading = (async () => {
    for await (const { id, event } of events) told.push(id === undefined ? event.type : `${event.type} ${id}`);
  })();
  const finished = refusal(reading);
  await settled();
  return { told, seen, timers, finished, stop: () => controller.abort(new Error('enough')) };
}

const resumptions = (seen: Seen[]) => seen.map(({ url, headers }) => [new URL(url).search, headers['last-event-id']]);

test('a broken stream continues after its last event, and no event comes twice', async () => {
  const first = openStream(`data: {"type":"connected"}\n\n${history('e:1')}${frame('e:2', 'a')}`);
  const second = openStream(`${CONNECTED}${history('e:2')}${frame('e:2', 'a')}${frame('e:3', 'b')}`);
  const { told, seen, timers, finished, stop } = await follow([first.response, second.response]);
  await first.end();
  await settled();
  await timers.advance(1000);
  assert.deepEqual(told, ['connected', 'history e:1', 'content e:2', 'connected', 'content e:3']);
  assert.deepEqual(resumptions(seen), [
    ['?ws_id=w', undefined],
    ['?ws_id=w&resume=1', 'e:2'],
  ]);
  stop();
  assert.deepEqual(await finished, { name: 'Error', message: 'enough' });
});

test('a stream that could not be resumed starts from its new history, whatever its offsets are', async () => {
  const stream = openStream(
    `data: {"type":"connected","recovered":false,"reason":"ahead"}\n\n${TRUNCATED}${history('e:3')}${frame('e:4', 'a')}`,
  );
  const { told, seen, stop, finished } = await follow([stream.response], { after: 'e:900' });
  assert.deepEqual(told, ['connected', 'replay_truncated', 'history e:3', 'content e:4']);
  assert.deepEqual(resumptions(seen), [['?ws_id=w&resume=1', 'e:900']]);
  stop();
  await finished;
});

test('without resume, every connection replays the history', async () => {
  const text = `data: {"type":"connected"}\n\n${history('e:1')}`;
  const [first, second] = [openStream(text), openStream(text)];
  const { told, seen, timers, stop, finished } = await follow([first.response, second.response], { resume: false });
  await first.end();
  await settled();
  await timers.advance(1000);
  assert.deepEqual(told, ['connected', 'history e:1', 'connected', 'history e:1']);
  assert.deepEqual(resumptions(seen), [
    ['?ws_id=w', undefined],
    ['?ws_id=w', undefined],
  ]);
  stop();
  await finished;
});

test('a stream without keepalives for fifteen seconds is reopened; a stream with keepalives is not', async () => {
  const first = openStream(`data: {"type":"connected"}\n\n${history('e:1')}`);
  const second = openStream(CONNECTED);
  const { told, timers, stop, finished } = await follow([first.response, second.response]);
  await timers.advance(14_000);
  await first.write(': keepalive\n\n');
  await settled();
  await timers.advance(14_999);
  assert.deepEqual(told, ['connected', 'history e:1']);
  await timers.advance(1001);
  assert.deepEqual(told, ['connected', 'history e:1', 'connected']);
  stop();
  await finished;
});

test('a busy daemon is retried after its delay; an unknown workstream ends the stream', async () => {
  const { seen, timers, finished } = await follow([
    Response.json({ error: 'Rate limit exceeded' }, { status: 429, headers: { 'Retry-After': '7' } }),
    Response.json({ error: 'Unknown workstream' }, { status: 404 }),
  ]);
  await timers.advance(6999);
  assert.equal(seen.length, 1);
  await timers.advance(1);
  assert.deepEqual(await finished, { name: 'HttpError', message: 'Unknown workstream', status: 404 });
});

test('an abort during the backoff ends the stream with the reason', async () => {
  const { stop, finished } = await follow([]);
  stop();
  assert.deepEqual(await finished, { name: 'Error', message: 'enough' });
});

test('a download returns the bytes and the type; an error status rejects as in a call', async () => {
  const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff]);
  const { fetch, seen } = scriptedFetch(
    new Response(bytes, { headers: { 'content-type': 'image/png' } }),
    Response.json({ error: 'Unknown attachment' }, { status: 404 }),
  );
  const client = createHttpClient({ baseUrl: BASE, token: 'secret', fetch });
  const place = { ws_id: 'w', attachment_id: 'att_1' };
  const file = await client.download(endpoints.attachment.content, place);
  assert.deepEqual([file.type, new Uint8Array(await file.arrayBuffer())], ['image/png', bytes]);
  await assert.rejects(client.download(endpoints.attachment.content, place), { name: 'HttpError', status: 404 });
  const url = `${BASE}/v1/api/workstreams/w/attachments/att_1/content`;
  assert.deepEqual(
    seen.map((request) => [request.method, request.url, request.headers.authorization]),
    Array.from({ length: 2 }, () => ['GET', url, 'Bearer secret']),
  );
});
