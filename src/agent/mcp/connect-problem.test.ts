import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { openRemote } from './open-remote.ts';
import { fakeServer, freePort, serve } from './servers-fixture.ts';

test('what a server does instead of opening a session is said in plain words', async (t) => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const cases: [string, RequestListener][] = [
    ['requires a login (HTTP 401): connect an account, or give it a header with a token', (_, it) => it.writeHead(401)],
    ['refuses the access (HTTP 403): check the rights of its account or token', (_, it) => it.writeHead(403)],
    ['offers nothing at this address (HTTP 404): check the path', (_, it) => it.writeHead(404)],
    ['refuses more requests for now (HTTP 429)', (_, it) => it.writeHead(429)],
    ['fails (HTTP 502)', (_, it) => it.writeHead(502)],
    ['refuses the connection (HTTP 418)', (_, it) => it.writeHead(418)],
    [
      'answers with text/html instead of JSON; check its address',
      (_, it) => it.writeHead(200, { 'content-type': 'text/html' }).write('<h1>Hello</h1>'),
    ],
    [
      'answers with something that is not a message of the protocol (MCP); check its address',
      (_, it) => it.writeHead(200, JSON_TYPE).write('{broken'),
    ],
    [
      'answers with something that is not a message of the protocol (MCP); check its address',
      (_, it) => it.writeHead(200, JSON_TYPE).write('{"hello":1}'),
    ],
    ['cannot be reached: it closed the connection without an answer', (request) => request.socket.destroy()],
  ];
  for (const [problem, listener] of cases) {
    const url = await serve(t, (request, answer) => {
      listener(request, answer);
      answer.end();
    });
    await assert.rejects(open(url), { message: problem });
  }
});

test('an address at which no server can be is explained', async (t) => {
  const url = await serve(t, (_, answer) => answer.end());
  await assert.rejects(open(url.replace('http:', 'https:')), {
    message: 'cannot be reached: it does not speak HTTPS; its address may have to begin with http://',
  });
  await assert.rejects(open(`http://127.0.0.1:${await freePort()}/mcp`), {
    message: 'cannot be reached: nothing listens at its address',
  });
  const failing = { code: 'ENOTFOUND' };
  const lookup = () => Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(''), failing) }));
  await assert.rejects(open(url, lookup), { message: 'cannot be reached: its host name is unknown' });
});

const open = (url: string, by: typeof fetch = fetch) =>
  openRemote(
    { config: { ...fakeServer('none'), command: undefined, url }, url },
    { signal: AbortSignal.timeout(10_000), onListsChanged: () => undefined },
    { environment: {}, fetch: by, clock: systemClock, version: 'test' },
  );
