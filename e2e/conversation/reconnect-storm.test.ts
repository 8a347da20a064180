import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { CONNECT } from '../../src/gateway/testing/test-client.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';

const CLIENTS = 1_000;

interface Refused {
  status: number | undefined;
  retryAfter: string | undefined;
}

/** One upgrade request; returns the socket if it was accepted. */
function upgrade({ port }: DaemonUnderTest): Promise<Duplex | Refused> {
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/v1/ws',
    agent: false,
    headers: {
      ...{ Host: '127.0.0.1', Upgrade: 'websocket', Connection: 'Upgrade' },
      ...{ 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' },
    },
  });
  sent.end();
  return new Promise((resolve, reject) => {
    sent.on('upgrade', (_, socket) => resolve(socket));
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'] });
    });
  });
}

/** A masked text frame, with a mask that changes nothing. */
function textFrame(text: string): Buffer {
  const head = Buffer.from([0x81, 0xfe, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(text.length, 2);
  return Buffer.concat([head, Buffer.from(text)]);
}

test(`${CLIENTS} clients that reconnect at the same time all succeed, some after a 503`, async (t) => {
  await using daemon = await startDaemon();
  const begunMs = performance.now();
  const back = await Promise.all(Array.from({ length: CLIENTS }, () => comeBack(daemon)));
  const tookMs = Math.round(performance.now() - begunMs);
  const refusals = back.reduce((sum, one) => sum + one.refusals, 0);
  t.diagnostic(`${refusals} refusals, all back after ${tookMs} ms`);
  assert.ok(refusals > 0, 'no client was refused, so the storm was too small');
  const metrics = await (await daemon.fetch('/metrics')).text();
  for (const { socket } of back) socket.destroy();
  assert.match(metrics, new RegExp(`^\\S*connections\\S* ${CLIENTS}$`, 'm'));
});

/** Retries after the time the gateway gives until it is accepted. Returns its socket and the number of refusals. */
async function comeBack(daemon: DaemonUnderTest) {
  for (let refusals = 0; ; refusals += 1) {
    const taken = await upgrade(daemon);
    if (!('status' in taken)) {
      const params = { ...CONNECT, auth: { token: daemon.token } };
      taken.write(textFrame(JSON.stringify({ type: 'req', id: '1', method: 'connect', params })));
      const first = await firstBytes(taken);
      assert.match(first.toString('latin1'), /"hello-ok"/);
      return { socket: taken, refusals };
    }
    assert.deepEqual(taken, { status: 503, retryAfter: '1' });
    await pause(1_000 + Math.random() * 1_000); // jitter, as in well-behaved clients
  }
}

const firstBytes = (socket: Duplex): Promise<Buffer> => new Promise((resolve) => socket.once('data', resolve));
