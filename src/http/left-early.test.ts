import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { LIMITS } from '../../protocol/limits.ts';
import type { Authenticator } from '../gateway/auth/authenticator.ts';
import { ANYONE } from '../gateway/sharing/perception.ts';
import { httpEdge, principalWith } from '../testing/http-edge.ts';

/** An edge whose authentication waits until `admit` is called. */
async function openEdge() {
  const waiting: (() => void)[] = [];
  const signals: AbortSignal[] = [];
  const authenticator: Authenticator = {
    enabled: true,
    endOf: () => undefined,
    viewerOf: () => ANYONE,
    async authenticate() {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return principalWith('approve');
    },
  };
  const edge = await httpEdge({ authenticator, answer: ({ caller }) => void signals.push(caller.signal) });
  /** Resolves when `count` requests wait to be admitted. */
  const wait = async (count: number) => {
    while (waiting.length < count) await new Promise(setImmediate);
  };
  return {
    ...{ edge, signals },
    [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose](),
    /** Sends the head of a request, and leaves before it is admitted. */
    async sendAndLeave(head: string) {
      const accepted = once(edge.server, 'connection');
      const socket = connect(edge.port, '127.0.0.1').on('error', () => undefined);
      socket.write(`${head}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\n\r\n`);
      const [theirs] = await accepted;
      await wait(1);
      const gone = new Promise((resolve) => theirs.once('close', resolve)); // `once` would reject for its error
      socket.resetAndDestroy();
      await gone;
      for (const admit of waiting.splice(0)) admit();
      await new Promise(setImmediate);
    },
    async send(sent: Parameters<typeof edge.send>[0]) {
      const answered = edge.send(sent);
      await wait(1);
      for (const admit of waiting.splice(0)) admit();
      return (await answered).status;
    },
  };
}

const json = { 'content-type': 'application/json', authorization: 'Bearer x' };

test('a client that leaves before it is known holds no place for a large body', async () => {
  await using it = await openEdge();
  const path = '/v1/api/workstreams/import';
  for (let n = 0; n < LIMITS.importsAtOnce; n += 1)
    await it.sendAndLeave(`POST ${path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 20000000`);
  const body = JSON.stringify({ conversation: 'x'.repeat(LIMITS.maxPayloadBytes) });
  assert.equal(await it.send({ method: 'POST', path, headers: json, body }), 400);
});

test('a client that leaves before it is known holds no place of its requests as of a tool server', async () => {
  await using it = await openEdge();
  for (let n = 0; n < 32; n += 1)
    await it.sendAndLeave('POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 10');
  assert.equal(await it.send({ method: 'POST', path: '/mcp', headers: json, body: '[]' }), 400);
});

test('the call of a client that left before it was known does not wait for it', async () => {
  await using it = await openEdge();
  await it.sendAndLeave('GET /v1/api/workstreams HTTP/1.1');
  assert.deepEqual(
    it.signals.map(({ aborted }) => aborted),
    [true],
  );
});
