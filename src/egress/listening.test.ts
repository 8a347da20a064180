import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { isListening } from './listening.ts';

test('says whether a port of this machine is open', async () => {
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  const url = new URL(`http://localhost:${address.port}/v1`);
  const { signal } = new AbortController();
  assert.equal(await isListening(url, signal), true);
  server.close();
  await once(server, 'close');
  assert.equal(await isListening(url, signal), false);
});

test('an aborted question is answered with no', async () => {
  assert.equal(await isListening(new URL('http://localhost:1'), AbortSignal.abort()), false);
});
