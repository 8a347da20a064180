import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { Fetch } from '../provider.ts';
import { findLocalServers } from './local-servers.ts';

const { signal } = new AbortController();

/** What answers at the ports of this machine. */
function machine(ports: Record<number, unknown>) {
  const asked: { url: string; headers: Headers }[] = [];
  const fetch: Fetch = async (url, init) => {
    asked.push({ url: String(url), headers: new Headers(init?.headers) });
    const answer = ports[Number(new URL(String(url)).port)];
    return typeof answer === 'number' ? new Response('', { status: answer }) : Response.json(answer);
  };
  const listens = async ({ port }: URL) => Object.hasOwn(ports, port);
  return { asked, find: () => findLocalServers({ fetch, listens, clock: fakeClock(), signal }) };
}

test('all usual servers of this machine that have models are found, asked once and without a key', async () => {
  const { asked, find } = machine({
    11434: { data: [{ id: 'nomic-embed-text' }, { id: 'qwen3:8b' }, { id: 'qwen3:8b' }] },
    1234: { data: [{ id: 'gemma' }] },
    8080: { data: [] },
    8000: 302,
    1337: 'no list',
  });
  assert.deepEqual(await find(), [
    { name: 'Ollama', baseUrl: 'http://localhost:11434/v1', models: ['qwen3:8b', 'nomic-embed-text'] },
    { name: 'LM Studio', baseUrl: 'http://localhost:1234/v1', models: ['gemma'] },
  ]);
  assert.equal(asked.length, 5);
  assert.ok(asked.every(({ url, headers }) => url.startsWith('http://localhost:') && !headers.has('authorization')));
});

test('a server with endless or absurd names is shown within bounds', async () => {
  const data = Array.from({ length: 5_000 }, (_, index) => ({ id: `m${index}` }));
  const { find } = machine({ 11434: { data: [{ id: 'x'.repeat(5_000) }, ...data] } });
  const [server] = await find();
  assert.deepEqual([server?.models.length, server?.models[0]], [100, 'm0']);
});

test('a server that does not answer is not waited for, and who leaves ends the search', async () => {
  const clock = fakeClock();
  const hanging: Fetch = (_, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const leaving = new AbortController();
  const find = () => findLocalServers({ fetch: hanging, listens: async () => true, clock, signal: leaving.signal });
  const found = find();
  await clock.advance(1_500);
  assert.deepEqual(await found, []);
  const left = find();
  await setImmediate(); // all are asked
  leaving.abort(new Error('left'));
  await assert.rejects(left, /left/);
});
