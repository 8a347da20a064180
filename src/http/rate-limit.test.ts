import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { fakeClock } from '../testing/fake-clock.ts';
import { httpEdge } from '../testing/http-edge.ts';
import { createRateLimit } from './rate-limit.ts';

const asking = (address: string) => ({ socket: { remoteAddress: address } }) as IncomingMessage; // the only field that is read

function limitOf({ requestsPerSecond = 10, burst = 2 } = {}) {
  const clock = fakeClock(1_000);
  const clientAddress = ({ socket }: Pick<IncomingMessage, 'socket'>) => socket.remoteAddress ?? '';
  const limit = createRateLimit({ requestsPerSecond, burst }, { clientAddress, clock });
  return { clock, ask: (address: string) => limit(asking(address)) };
}

test('each client has its own burst, which refills', async () => {
  const { clock, ask } = limitOf();
  assert.deepEqual([ask('a'), ask('a'), ask('a'), ask('b')], [0, 0, 100, 0]);
  await clock.advance(100);
  assert.deepEqual([ask('a'), ask('a')], [0, 100]);
});

test('with a hundred thousand clients, new ones are refused until old ones are forgotten', async () => {
  const { clock, ask } = limitOf({ burst: 1 });
  for (let n = 0; n < 100_000; n++) ask(`client ${n}`);
  assert.deepEqual([ask('one more'), ask('client 7')], [1_000, 100]);
  await clock.advance(3_600_000);
  assert.equal(ask('one more'), 0);
});

test('a request over the limit is answered 429 with the wait, and counted; health, metrics and preflights pass', async () => {
  const limited: string[] = [];
  const rateLimit = ({ url = '' }: IncomingMessage) => {
    limited.push(url);
    return 340;
  };
  await using edge = await httpEdge({ rateLimit });
  const get = (path: string, method = 'GET') => edge.send({ method, path, headers: { authorization: 'Bearer read' } });
  const { status, headers, text } = await get('/v1/api/workstreams');
  assert.deepEqual(
    [status, headers['retry-after'], JSON.parse(text)],
    [429, '2', { error: 'Rate limit exceeded', retry_after: 0.4 }],
  );
  for (const path of ['/metrics', '/openapi.json']) assert.equal((await get(path)).status, 200, path);
  assert.equal((await get('/v1/api/send', 'OPTIONS')).status, 200);
  assert.deepEqual([limited, edge.counted.includes('rate limited')], [['/v1/api/workstreams'], true]);
});
