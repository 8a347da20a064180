import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createGuardedEgress } from '../../egress/guarded-egress.ts';
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
    openRemote({ config: remote(url), url }, options, { environment: {}, fetch, version: 'test' });
  await assert.rejects(open('http://tools.example.com/mcp'), /cannot be reached: .*private address 10\.0\.0\.7/);
  await assert.rejects(open('http://169.254.169.254/mcp'), /169\.254\.169\.254/);
  await assert.rejects(open(outside), /redirect/);
  assert.equal(reached, 0);
});

test('an answer that never ends is given up', async (t) => {
  const url = await serve(t, (request, answer) => {
    if (request.method !== 'POST') return void answer.writeHead(405).end();
    answer.writeHead(200, { 'content-type': 'application/json' });
    const piece = 'x'.repeat(1024 * 1024);
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
