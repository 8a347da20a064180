import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { launched } from '../support/clients/browser-profiles.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const client = await daemon.client();
for (let number = 1; number <= 12; number += 1)
  await client.call('workstream.create', { name: `the conversation about room ${number} of the house` });

const PAGE = '/';
const DOCUMENT = '/openapi.json';
const METRICS = '/metrics';
const LIST = '/v1/api/workstreams';
const LONG = [PAGE, DOCUMENT, METRICS, LIST];
const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync };

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** The response head for a request with exactly these headers; its body has not been read yet. */
async function begin(route: string, { method = 'GET', headers = {}, body = '' }: Sent = {}): Promise<IncomingMessage> {
  const authorized = { authorization: `Bearer ${daemon.token}`, ...headers };
  const sent = request({
    host: '127.0.0.1',
    port: daemon.port,
    agent: false,
    method,
    path: route,
    headers: authorized,
  });
  sent.end(body);
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  return answer ?? assert.fail('there is an answer');
}

async function send(
  route: string,
  sent?: Sent,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  const answer = await begin(route, sent);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) };
}

const asking = (encoding: string) => ({ headers: { 'accept-encoding': encoding } });
const codingOf = ({ headers }: { headers: IncomingHttpHeaders }) => headers['content-encoding'];

test('A text answer of 1 KiB or more must be compressed if `Accept-Encoding` asks for it, and never otherwise', async () => {
  for (const route of LONG) {
    const plain = await send(route);
    assert.ok(plain.body.length >= 1024, `${route} is long enough`);
    assert.deepEqual([plain.status, codingOf(plain), plain.headers.vary], [200, undefined, 'Accept-Encoding'], route);
    for (const [header, coding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0.2, gzip;q=0.8', 'gzip'],
    ] as const) {
      const coded = await send(route, asking(header));
      assert.deepEqual([codingOf(coded), coded.headers.vary], [coding, 'Accept-Encoding'], `${route} ${header}`);
      assert.equal(coded.headers['content-length'], String(coded.body.length));
      assert.ok(coded.body.length < plain.body.length / 2, `${route} ${coding} is ${coded.body.length} bytes`);
      const text = DECODERS[coding](coded.body);
      if (route === METRICS) assert.match(text.toString(), /^# HELP /);
      else assert.deepEqual(text, plain.body, `${route} ${coding}`);
    }
    for (const header of ['identity', 'br;q=0, gzip;q=0', '*;q=0', 'deflate'])
      assert.equal(codingOf(await send(route, asking(header))), undefined, `${route} ${header}`);
  }
  const short = await send('/v1/api/auth/status', asking('br, gzip'));
  assert.deepEqual([codingOf(short), short.headers.etag, short.headers.vary], [undefined, undefined, undefined]);
});

test('A GET whose `If-None-Match` names the current `ETag` must answer 304 until the answer changes', async () => {
  for (const route of [PAGE, DOCUMENT, LIST]) {
    const { headers } = await send(route, asking('br'));
    const etag = headers.etag ?? assert.fail(`${route} has an ETag`);
    for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*'])
      for (const encoding of ['br', 'gzip', 'identity']) {
        const sent = { headers: { 'accept-encoding': encoding, 'if-none-match': known } };
        const again = await send(route, sent);
        assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, etag], `${route} ${known}`);
        assert.deepEqual([again.headers.vary, codingOf(again)], ['Accept-Encoding', undefined]);
      }
    assert.equal((await send(route, { headers: { 'if-none-match': '"other"' } })).status, 200);
  }
  const { headers } = await send(LIST);
  const known = { 'if-none-match': headers.etag ?? '' };
  assert.equal((await send(LIST, { headers: { ...known, authorization: 'Bearer wrong' } })).status, 401);
  await client.call('workstream.create', { name: 'one more' });
  assert.equal((await send(LIST, { headers: known })).status, 200, 'the list has changed');
});

test('HEAD is answered with the headers of GET and no body', async () => {
  for (const route of [PAGE, DOCUMENT, LIST])
    for (const encoding of ['br', 'gzip', 'identity']) {
      const headsOf = ({ date: _, 'x-request-id': _id, ...headers }: IncomingHttpHeaders) => headers;
      const got = await send(route, asking(encoding));
      const head = await send(route, { method: 'HEAD', ...asking(encoding) });
      assert.deepEqual([head.status, head.body.length, headsOf(head.headers)], [200, 0, headsOf(got.headers)], route);
    }
  const { headers } = await send(PAGE);
  const again = await send(PAGE, { method: 'HEAD', headers: { 'if-none-match': headers.etag ?? '' } });
  assert.equal(again.status, 304);
});

test('An event stream must be neither compressed nor held back', async () => {
  const { wsId } = await client.call('workstream.create', { name: 'streamed' });
  const rest = stall();
  model.when('stream it', [say('the first words'), rest, say(' and the last')]);
  for (const route of [`/v1/api/events?ws_id=${wsId}`, '/v1/api/events/global']) {
    const stream = await begin(route, asking('gzip, deflate, br, zstd'));
    assert.deepEqual(
      [stream.headers['content-type'], stream.headers['content-encoding'], stream.headers.etag],
      ['text/event-stream; charset=utf-8', undefined, undefined],
    );
    if (route.includes('ws_id')) {
      await client.call('workstream.send', { wsId, message: 'stream it' });
      let text = '';
      for await (const chunk of stream.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
        text += chunk;
        if (text.includes('the first words')) break;
      }
      assert.ok(text.includes('the first words'), 'the first words arrive before the answer ends');
      rest.release();
    }
    stream.destroy();
  }
});

test('an attachment is served unchanged, without compression', async () => {
  const { wsId } = await client.call('workstream.create', { name: 'attached' });
  const words = 'the same words over and over, '.repeat(400);
  const form = new FormData();
  form.append('file', new Blob([words]), 'words.txt');
  const stored = await daemon.fetch(`/v1/api/workstreams/${wsId}/attachments`, { method: 'POST', body: form });
  const { attachment_id: id } = JSON.parse(await stored.text());
  const got = await send(`/v1/api/workstreams/${wsId}/attachments/${id}/content`, asking('br, gzip'));
  assert.deepEqual([got.status, codingOf(got), got.body.toString()], [200, undefined, words]);
});

test('many clients that disconnect during an answer do not affect other clients', async () => {
  const leaving = Array.from({ length: 60 }, (_, index) => {
    const sent = request({
      ...{ host: '127.0.0.1', port: daemon.port, agent: false, path: LIST },
      headers: { authorization: `Bearer ${daemon.token}`, 'accept-encoding': index % 2 === 0 ? 'br' : 'gzip' },
    });
    sent.on('error', () => undefined).end();
    sent.on('socket', (socket) => socket.on('connect', () => setImmediate(() => socket.resetAndDestroy())));
    return new Promise((gone) => sent.on('close', gone));
  });
  const staying = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const { headers, body } = await send(LIST, asking('br'));
      return JSON.parse((headers['content-encoding'] === 'br' ? brotliDecompressSync(body) : body).toString());
    }),
  );
  await Promise.all(leaving);
  assert.ok(staying.every(({ workstreams }) => workstreams.length === staying[0].workstreams.length));
});

test('the page loads with at most 150 kB on the wire, and with a 304 the second time', async (t) => {
  const context = await (await launched()).newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const seen = { bytes: 0, statuses: [] as number[] };
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    seen.bytes += encodedDataLength;
  });
  session.on('Network.responseReceivedExtraInfo', ({ statusCode }) => void seen.statuses.push(statusCode));
  const load = async (go: () => Promise<unknown>) => {
    Object.assign(seen, { bytes: 0, statuses: [] });
    await go();
    await page.getByRole('heading', { name: 'Log in to Headgate' }).waitFor();
    return { ...seen };
  };
  const first = await load(() => page.goto(daemon.url));
  t.diagnostic(`${first.bytes} bytes on the wire`);
  assert.equal(first.statuses[0], 200);
  assert.ok(first.bytes > 0 && first.bytes <= 150_000, `${first.bytes} bytes`);
  const second = await load(() => page.goto(daemon.url));
  assert.equal(second.statuses[0], 304);
  assert.ok(second.bytes < 5_000, `${second.bytes} bytes`);
  const gzip = await send(PAGE, asking('gzip')); // for programs; every browser takes brotli
  assert.ok(gzip.body.length <= 175_000, `${gzip.body.length} bytes by gzip`);
});
