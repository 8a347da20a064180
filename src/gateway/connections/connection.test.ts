import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HelloOk } from '../../../protocol/connect.ts';
import type { ResponseFrame } from '../../../protocol/frames.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { CONNECT } from '../testing/test-client.ts';
import { BUDGET, openConnection } from './connection-fixture.ts';

const never = () => new Promise<never>(() => undefined);

test('a valid handshake is answered with hello-ok before any event', async () => {
  const { broadcast, welcome, frames, endTurn, calls, seen } = openConnection();
  broadcast.publish('tick', { ts: 1 });
  await welcome();
  broadcast.publish('tick', { ts: 2 });
  await endTurn();
  const [answer, ...events] = frames();
  const hello = HelloOk.parse((answer as ResponseFrame).payload);
  assert.deepEqual(
    { ...hello, features: undefined },
    {
      type: 'hello-ok',
      protocol: 2,
      server: { version: '1.2.3', connId: 'c1' },
      features: undefined,
      snapshot: { presence: [], health: {}, stateVersion: { presence: 1, health: 1 }, uptimeMs: 12 },
      policy: { maxPayload: 1_048_576, maxBufferedBytes: BUDGET, tickIntervalMs: 30_000 },
    },
  );
  assert.deepEqual(events, [{ type: 'event', event: 'tick', payload: { ts: 2 }, seq: 2 }]);
  assert.deepEqual(calls, ['pause', 'maxPayload 1048576', 'resume']);
  assert.deepEqual(seen, ['left lobby', 'present c1']);
});

test('features list what this client may use, without connect', async () => {
  const { welcome, frames } = openConnection();
  await welcome();
  const { features } = HelloOk.parse((frames()[0] as ResponseFrame).payload);
  const has = (name: string) => features.methods.includes(name);
  assert.deepEqual(['agent', 'workstream.list', 'auth.status', 'approval.list', 'connect'].map(has), [
    true,
    true,
    true,
    false,
    false,
  ]);
  assert.deepEqual(features.events, [
    ...['agent', 'chat', 'workstream', 'workstream.opened', 'workstream.closed', 'queue.changed'],
    'workstream.viewers',
    ...['node.event', 'presence', 'tick', 'health', 'heartbeat', 'cron', 'voicewake.changed', 'shutdown'],
  ]);
});

test('frames that arrive with the first one are answered after it', async () => {
  const { call, endTurn, answers } = openConnection();
  call('c', 'connect', CONNECT);
  call('1', 'health');
  await endTurn();
  await endTurn();
  assert.deepEqual(
    answers().map(([id]) => id),
    ['c', '1'],
  );
});

test('frames that arrive with a refused handshake are not answered', async () => {
  const { call, endTurn, answers, calls } = openConnection({ authenticate: async () => undefined });
  call('c', 'connect', CONNECT);
  call('1', 'health');
  await endTurn();
  assert.deepEqual([answers(), calls.at(-1)], [[['c', 'UNAUTHORIZED']], 'close 1008 unauthorized']);
});

test('ten seconds without a first frame end a connection without an answer', async () => {
  const { clock, calls, frames } = openConnection();
  await clock.advance(LIMITS.handshakeMs - 1);
  assert.deepEqual(calls, []);
  await clock.advance(1);
  assert.deepEqual([calls, frames()], [['close 1000'], []]);
});

test('the ten seconds include checking the credential', async () => {
  const { call, clock, calls } = openConnection({ authenticate: never });
  call('c', 'connect', CONNECT);
  await clock.advance(LIMITS.handshakeMs);
  assert.equal(calls.at(-1), 'close 1000');
});

test('after the handshake a client may be silent', async () => {
  const { welcome, clock, calls } = openConnection();
  await welcome();
  await clock.advance(LIMITS.handshakeMs * 10);
  assert.equal(calls.at(-1), 'resume');
});

test('a credential that cannot be checked closes with 1011 without an answer', async () => {
  const { call, endTurn, calls, frames } = openConnection({ authenticate: () => Promise.reject(new Error('disk')) });
  call('c', 'connect', CONNECT);
  await endTurn();
  assert.deepEqual([calls.at(-1), frames()], ['close 1011', []]);
});

test('a client that answers no pings is disconnected at the third tick', async () => {
  const { welcome, connection, calls } = openConnection();
  connection.tick();
  await welcome();
  calls.length = 0;
  connection.tick();
  connection.tick();
  connection.onPong();
  connection.tick();
  connection.tick();
  assert.deepEqual(calls, ['ping', 'ping', 'ping', 'ping']);
  connection.tick();
  assert.deepEqual(calls.slice(4), ['terminate']);
});

test('any frame counts as an answer to pings', async () => {
  const { welcome, connection, calls, call } = openConnection();
  await welcome();
  for (let i = 0; i < 5; i++) {
    connection.tick();
    call(`${i}`, 'health');
  }
  assert.equal(calls.includes('terminate'), false);
});

test('a revoked credential closes the connection at once', async () => {
  const { welcome, revocation, calls, seen, broadcast, endTurn } = openConnection();
  await welcome();
  revocation.abort();
  assert.deepEqual([calls.at(-1), seen.at(-1), broadcast.size], ['close 1008 unauthorized', 'absent c1', 0]);
  broadcast.publish('tick', { ts: 1 });
  await endTurn();
});

test('a credential revoked during its check opens no connection', async () => {
  const { revocation, welcome, calls, broadcast } = openConnection();
  revocation.abort();
  await welcome();
  assert.deepEqual([calls.includes('close 1008 unauthorized'), broadcast.size], [true, 0]);
});

test('a credential revoked between its check and the answer gets no hello', async () => {
  const { call, revocation, frames, calls, seen, endTurn } = openConnection();
  call('c', 'connect', CONNECT);
  await new Promise(setImmediate); // the credential is checked
  assert.deepEqual(seen, ['left lobby', 'present c1']);
  revocation.abort();
  await endTurn();
  assert.deepEqual(frames(), []);
  assert.match(calls.join(), /close 1008/);
  assert.equal(seen.at(-1), 'absent c1');
});

test('a client that leaves between the check of its credential and the answer leaves nothing behind', async () => {
  const { call, connection, frames, broadcast, seen, endTurn } = openConnection();
  call('c', 'connect', CONNECT);
  await new Promise(setImmediate);
  connection.onClose();
  await endTurn();
  assert.deepEqual([frames(), seen.at(-1), broadcast.size], [[], 'absent c1', 0]);
});

test('a closed connection ignores frames and sends none', async () => {
  const { welcome, connection, call, endTurn, frames, seen } = openConnection();
  await welcome();
  connection.close('service_restart');
  connection.onClose();
  call('late', 'health');
  await endTurn();
  assert.deepEqual([frames().length, seen.filter((word) => word.startsWith('absent'))], [1, ['absent c1']]);
});
