import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { systemClock } from '../../clock.ts';
import { createGuardedEgress } from '../../egress/guarded-egress.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { openRemote } from './open-remote.ts';
import { fakeServer, freePort, openServers, serve } from './servers-fixture.ts';

const EVERYTHING = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const inner = (output: string): string => output.split('\n').slice(1, -1).join('\n');
const remote = (url: string, headers = {}) => ({ ...fakeServer('none'), command: undefined, url, headers });

/** A server of other authors, over HTTP. */
async function startEverything(t: TestContext, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PORT: String(port), PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for await (const part of child.stderr ?? []) {
    said += part;
    if (said.includes('listening')) break;
  }
  return child;
}

test('a server over HTTP is used, and after it was started again, too', async (t) => {
  const port = await freePort();
  const first = await startEverything(t, port);
  const it = await openServers(t, { far: remote(`http://127.0.0.1:${port}/mcp`) });
  const names = (await it.ready()).map(({ name }) => name);
  assert.ok(names.includes('mcp__far__echo'), String(names));
  const ask = () => it.call('mcp__far__echo', { message: 'hi' });
  assert.equal(inner((await ask()).output), 'Echo: hi');
  first.kill('SIGKILL');
  await once(first, 'exit');
  const { output, outcome } = await ask();
  assert.deepEqual(
    [outcome, output.split('. ')[0]],
    ['unknown', 'The tool server far cannot be reached: nothing listens at its address'],
  );
  await startEverything(t, port);
  assert.equal(inner((await ask()).output), 'Echo: hi');
});

test('its headers are sent; a server that answers with an error or a page is known by its state', async (t) => {
  const seen = new Set<string | undefined>();
  const url = await serve(t, (request, answer) => {
    seen.add(request.headers['x-key']?.toString());
    answer.writeHead(401, { 'content-type': 'text/html' }).end('<h1>Who are you?</h1>');
  });
  const it = await openServers(t, { far: remote(url, { 'x-key': `$${'{CANARY}'}` }) });
  await it.ready();
  const [status] = it.pool.list();
  assert.equal(status?.state, 'failed');
  assert.deepEqual([...seen], ['canary-1234567890']);
  assert.doesNotMatch(status?.problem ?? '', /canary/);
});

test('an error about a header that cannot be sent has its name and not its value', async (t) => {
  const it = await openServers(t, { far: remote('http://127.0.0.1:9/mcp', { 'x-key': 'canary\nsecond line' }) });
  await it.ready();
  assert.equal(
    it.pool.list()[0]?.problem,
    'cannot be reached: the value of the header x-key has characters that cannot be sent, such as a line end',
  );
});

test('an address that is not allowed is not reached, and no redirect is followed', async (t) => {
  let reached = 0;
  const inside = await serve(t, (_, answer) => {
    reached += 1;
    answer.end();
  });
  const outside = await serve(t, (_, answer) => answer.writeHead(307, { location: inside }).end());
  const { fetch } = createGuardedEgress({
    privateHosts: () => [],
    environment: {},
    lookup: (_, __, done) => done(null, [{ address: '10.0.0.7', family: 4 }]),
  });
  const options = { signal: AbortSignal.timeout(10_000), onListsChanged: () => undefined };
  const open = (url: string) =>
    openRemote({ config: remote(url), url }, options, { environment: {}, fetch, clock: systemClock, version: 'test' });
  await assert.rejects(open('http://tools.example.com/mcp'), /cannot be reached: .*private address 10\.0\.0\.7/);
  await assert.rejects(open('http://169.254.169.254/mcp'), /169\.254\.169\.254/);
  await assert.rejects(open(outside), /redirect/);
  assert.equal(reached, 0);
});

test('a session opens although the server closes a kept connection at that moment', async (t) => {
  const used = new WeakSet<object>();
  let dropped = 0;
  const url = await serve(t, async (request, answer) => {
    const { id, method } = Asked.parse(await json(request));
    if (used.has(request.socket) && dropped === 0) {
      dropped += 1;
      request.socket.destroy();
      return;
    }
    used.add(request.socket);
    if (id === undefined) return void answer.writeHead(202).end();
    const said =
      method === 'initialize' ? { result: SERVER } : { error: { code: -32_601, message: 'Method not found' } };
    answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
  });
  const { fetch } = createGuardedEgress({ privateHosts: () => [], environment: {} });
  await (await fetch(url, { method: 'POST', body: '{"id":1,"method":"ping"}' })).text();
  const deps = { environment: {}, fetch, clock: systemClock, version: 'test' };
  const options = { signal: AbortSignal.timeout(10_000), onListsChanged: () => undefined };
  const session = await openRemote({ config: remote(url), url }, options, deps);
  assert.equal(dropped, 1);
  await session.close();
});

test('an answer that never ends is given up, also if it has many lines', async (t) => {
  const url = await serve(t, (request, answer) => {
    if (request.method !== 'POST') return void answer.writeHead(405).end();
    answer.writeHead(200, { 'content-type': 'application/json' });
    const piece = 'some words\n'.repeat(100_000);
    const more = () => {
      while (!answer.destroyed && answer.write(piece));
    };
    answer.on('drain', more);
    more();
  });
  const it = await openServers(t, { far: remote(url) });
  await it.ready();
  const [status] = it.pool.list();
  assert.deepEqual([status?.state, status?.problem], ['failed', 'sends an answer of more than 16 MiB']);
});

const Asked = z.looseObject({ id: z.unknown().optional(), method: z.string() });

interface Played {
  /** Answers GET, which opens the stream of the server's notifications. */
  stream?(answer: ServerResponse): void;
  /** Answers DELETE, which ends the session. */
  end?(answer: ServerResponse): void;
  call?(answer: ServerResponse): void;
  list?(): object;
}

const noStream = (answer: ServerResponse): void => void answer.writeHead(405).end();
const nothing = (answer: ServerResponse): void => void answer.end();
const oneTool = (): object => ({ tools: [{ name: 'greet' }] });
const SERVER = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } };

/** A server that plays a part of the protocol in a way of its own. */
const play = (t: TestContext, { stream = noStream, end = nothing, call = nothing, list = oneTool }: Played) =>
  serve(t, async (request, answer) => {
    if (request.method === 'GET') return stream(answer);
    if (request.method === 'DELETE') return end(answer);
    const { id, method } = Asked.parse(await json(request));
    if (id === undefined) return void answer.writeHead(202).end();
    if (method === 'tools/call') return call(answer);
    const results: Record<string, () => object> = { initialize: () => SERVER, 'tools/list': list };
    const result = results[method]?.();
    const said = result ? { result } : { error: { code: -32_601, message: 'Method not found' } };
    answer.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' });
    answer.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
  });

const EVENTS = { 'content-type': 'text/event-stream' };

/** A session by a clock that stands still. */
async function openByHand(url: string) {
  const clock = fakeClock();
  const options = { signal: AbortSignal.timeout(10_000), onListsChanged: () => undefined };
  const session = await openRemote({ config: remote(url), url }, options, {
    environment: {},
    fetch,
    clock,
    version: 'test',
  });
  return { clock, session };
}

/** Ends its stream at once, and names the pause until it wants to be asked again. */
async function openWithPause(t: TestContext, retry: number) {
  const seen = { opened: 0 };
  const stream = (answer: ServerResponse) => {
    seen.opened += 1;
    answer.writeHead(200, EVENTS).end(`retry: ${retry}\nid: 1\ndata: \n\n`);
  };
  const { clock, session } = await openByHand(await play(t, { stream }));
  const waitASecond = async () => {
    await session.list('tools', AbortSignal.timeout(10_000));
    await clock.advance(1_000);
  };
  return { seen, session, waitASecond };
}

test('a stream that ends at once and names no pause is opened again twice per second at most', async (t) => {
  const { seen, session, waitASecond } = await openWithPause(t, 0);
  let seconds = 0;
  for (; seen.opened < 5; seconds += 1) await waitASecond();
  assert.ok(seen.opened <= 2 * seconds + 1, `${seen.opened} in ${seconds} seconds`);
  await session.close();
});

test('a stream with a pause that no timer has is not opened again at once', async (t) => {
  const { seen, session, waitASecond } = await openWithPause(t, 99_999_999_999);
  while (seen.opened === 0) await waitASecond();
  for (let seconds = 0; seconds < 20; seconds += 1) await waitASecond();
  assert.equal(seen.opened, 1);
  await session.close();
});

test('a server over HTTP that sends more messages than anybody asked for is ended', async (t) => {
  const url = await play(t, {
    call(answer) {
      answer.writeHead(200, EVENTS);
      const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } };
      const more = () => {
        while (!answer.destroyed && answer.write(`data: ${JSON.stringify(note)}\n\n`));
      };
      answer.on('drain', more);
      more();
    },
  });
  const it = await openServers(t, { far: remote(url) });
  await it.ready();
  const { output, outcome } = await it.call('mcp__far__greet');
  const unknown = 'It is unknown what the call has done until then.';
  assert.deepEqual(
    [outcome, output],
    ['unknown', `The tool server far sent more messages than anybody asked for. ${unknown}`],
  );
});

for (const [how, end] of [
  ['ends', (answer: ServerResponse) => void answer.end()],
  ['breaks off', (answer: ServerResponse) => void answer.socket?.resetAndDestroy()],
] as const)
  test(`a call whose answer ${how} before it is complete does not wait for its deadline`, async (t) => {
    const call = (answer: ServerResponse) => void answer.writeHead(200, EVENTS).write(': wait\n\n', () => end(answer));
    const it = await openServers(t, { far: remote(await play(t, { call })) });
    await it.ready();
    const { output, outcome } = await it.call('mcp__far__greet');
    const unknown = 'It is unknown what the call has done until then.';
    assert.deepEqual(
      [outcome, output],
      ['unknown', `The tool server far ended its answer before it was complete. ${unknown}`],
    );
    assert.equal(it.pool.list()[0]?.state, 'connected', 'other calls go on');
  });

test('a server that does not answer the end of its session holds nobody up for more than five seconds', async (t) => {
  const asked = Promise.withResolvers<void>();
  const { clock, session } = await openByHand(await play(t, { end: () => asked.resolve() }));
  const closed = session.close();
  await asked.promise;
  await clock.advance(5_000);
  await closed;
});

test('a list whose pages are too large all together is not read to its end', async (t) => {
  let pages = 0;
  const list = () => {
    pages += 1;
    return { tools: [{ name: 'x', description: 'x'.repeat(12 * 1024 * 1024) }], nextCursor: `${pages}` };
  };
  const it = await openServers(t, { far: remote(await play(t, { list })) });
  await it.ready();
  const [status] = it.pool.list();
  assert.deepEqual([status?.problem, pages], ['answers tools/list with more than 32 MiB', 3]);
});
