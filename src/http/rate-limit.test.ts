import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { createClientAddress } from '../gateway/auth/client-address.ts';
import { bodyOf } from '../testing/answer-body.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { httpEdge } from '../testing/http-edge.ts';
import { createRateLimit } from './rate-limit.ts';

const asking = (address: string) => ({ socket: { remoteAddress: address } }) as IncomingMessage; // the only field that is read

function limitOf({ requestsPerSecond = 10, burst = 2, sparesLoopback = false } = {}) {
  const clock = fakeClock(1_000);
  const clientAddress = ({ socket }: Pick<IncomingMessage, 'socket'>) => socket.remoteAddress ?? '';
  const limit = createRateLimit({ requestsPerSecond, burst, sparesLoopback }, { clientAddress, clock });
  return { clock, ask: (address: string) => limit(asking(address)) };
}

test('each client has its own burst, which refills', async () => {
  const { clock, ask } = limitOf();
  assert.deepEqual([ask('a'), ask('a'), ask('a'), ask('b')], [0, 0, 100, 0]);
  await clock.advance(100);
  assert.deepEqual([ask('a'), ask('a')], [0, 100]);
});

test('the IPv6 addresses of one network are one client, so that it can neither multiply its burst nor crowd others out', () => {
  const { ask } = limitOf();
  for (let n = 0; n < 100_000; n += 1) ask(`2001:db8:0:1::${n.toString(16)}`);
  assert.deepEqual([ask('2001:db8:0:1:ffff::1'), ask('2001:db8:0:2::1'), ask('10.0.0.1')], [100, 0, 0]);
});

test('requests from this machine are spared if asked for, but not what another machine calls loopback', async () => {
  const spare = limitOf({ burst: 1, sparesLoopback: true });
  const twice = ({ ask }: typeof spare, address: string) => [ask(address), ask(address)];
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
    assert.deepEqual(
      [twice(spare, address), twice(limitOf({ burst: 1 }), address)],
      [
        [0, 0],
        [0, 100],
      ],
      address,
    );
  }
  for (const address of ['10.0.0.1', '', '::2', '1127.0.0.1'])
    assert.deepEqual(twice(spare, address), [0, 100], address);
  const clientAddress = createClientAddress(['10.0.0.0/8']);
  const limit = createRateLimit(
    { requestsPerSecond: 1, burst: 1, sparesLoopback: true },
    { clientAddress, clock: fakeClock(0) },
  );
  const behind = { socket: { remoteAddress: '10.0.0.1' }, headers: { 'x-forwarded-for': '127.0.0.1' } };
  const req = behind as unknown as IncomingMessage; // the only fields that are read
  assert.deepEqual([limit(req), limit(req)], [0, 1_000]);
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
  const refused = await get('/v1/api/workstreams');
  assert.deepEqual(
    [refused.status, refused.headers['retry-after'], bodyOf(refused)],
    [429, '2', { error: 'Rate limit exceeded', retry_after: 0.4 }],
  );
  for (const path of ['/metrics', '/openapi.json']) assert.equal((await get(path)).status, 200, path);
  assert.equal((await get('/v1/api/send', 'OPTIONS')).status, 200);
  assert.deepEqual([limited, edge.counted.includes('rate limited')], [['/v1/api/workstreams'], true]);
});
