import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '../index.ts';
import type { WorkstreamSnapshot } from '../methods/workstream.ts';
import type { StreamEvent } from '../stream-events.ts';
import { RequestError } from './request-error.ts';
import { connectedClient } from './testing/connected-client.ts';
import { settled } from './testing/fake-timers.ts';
import type { GatewayClientOptions } from './ws-client.ts';

async function setUp(after?: string, options?: Partial<GatewayClientOptions>) {
  const { gateway, timers, client } = await connectedClient(options);
  const told: unknown[] = [];
  const subscribe = () =>
    client.subscribe('w', {
      after,
      onSnapshot: ({ workdir }, cursor) => told.push(['snapshot', workdir, cursor]),
      onEvent: (event, cursor) => told.push([event.type, cursor]),
      onReset: (reason) => told.push(['reset', reason]),
      onError: (error) => told.push(['error', error instanceof Error && error.message]),
    });
  return { gateway, timers, told, client, subscribe };
}

const snapshotOf = (workdir: string): WorkstreamSnapshot => ({
  workstream: {
    wsId: 'w',
    name: 'ws-0001',
    sessionKey: 'main',
    state: 'idle',
    title: null,
    modelAlias: 'demo',
    skipPermissions: false,
    mode: 'ask',
    messageCount: 0,
    createdMs: 0,
    updatedMs: 0,
    userId: '',
    visibility: 'shared',
  },
  model: 'demo',
  workdir,
  messages: [],
  truncated: false,
  pendingApprovals: [],
  effort: 'medium',
});

const answer = (id: string, payload: Result<'events.subscribe'>) => ({ id, ok: true, payload });
const fresh = (id: string, cursor: string) => answer(id, { cursor, recovered: false, snapshot: snapshotOf('/a') });
const content: StreamEvent = { type: 'content', text: 'x' };
const event = (cursor: string) => ({ event: 'workstream', payload: { wsId: 'w', cursor, event: content } });

test('a subscription starts with a snapshot and then delivers each event once', async () => {
  const { gateway, told, subscribe } = await setUp();
  const subscription = subscribe();
  assert.deepEqual(gateway.socket.calls, [{ type: 'req', id: '1', method: 'events.subscribe', params: { wsId: 'w' } }]);
  await gateway.socket.answer(fresh('1', 'e:4'));
  for (const cursor of ['e:5', 'e:5', 'e:3', 'e:8']) await gateway.socket.event(event(cursor));
  assert.deepEqual(told, [
    ['snapshot', '/a', 'e:4'],
    ['content', 'e:5'],
    ['content', 'e:8'],
  ]);
  assert.equal(subscription.cursor, 'e:8');
});

test('events in the same packet as the answer to their subscription are delivered', async () => {
  const { gateway, told, subscribe } = await setUp('e:4');
  subscribe();
  const { socket } = gateway;
  const packet = [answer('1', { cursor: 'e:4', recovered: true }), event('e:5'), event('e:6')] as const;
  await Promise.all(packet.map((frame) => ('id' in frame ? socket.answer(frame) : socket.event(frame))));
  assert.deepEqual(told, [
    ['content', 'e:5'],
    ['content', 'e:6'],
  ]);
});

test('after a reconnect, a subscription continues after the last delivered event', async () => {
  const { gateway, timers, told, subscribe } = await setUp();
  subscribe();
  await gateway.socket.answer(fresh('1', 'e:4'));
  await gateway.socket.event(event('e:5'));
  await gateway.socket.drop();
  await timers.advance(1000);
  await gateway.socket.accept();
  assert.deepEqual(gateway.socket.calls, [
    { type: 'req', id: '2', method: 'events.subscribe', params: { wsId: 'w', after: 'e:5' } },
  ]);
  await gateway.socket.answer(answer('2', { cursor: 'e:5', recovered: true }));
  for (const cursor of ['e:5', 'e:6']) await gateway.socket.event(event(cursor));
  assert.deepEqual(told, [
    ['snapshot', '/a', 'e:4'],
    ['content', 'e:5'],
    ['content', 'e:6'],
  ]);
});

test('if exact resumption is impossible, the reason is reported and a snapshot follows', async () => {
  const { gateway, told, subscribe } = await setUp('old:900');
  const subscription = subscribe();
  await gateway.socket.answer(
    answer('1', { cursor: 'e:4', recovered: false, reason: 'epoch', snapshot: snapshotOf('/b') }),
  );
  await gateway.socket.event(event('e:5'));
  assert.deepEqual(told, [
    ['reset', 'epoch'],
    ['snapshot', '/b', 'e:4'],
    ['content', 'e:5'],
  ]);
  assert.equal(subscription.cursor, 'e:5');
});

test('an event of another epoch is not delivered; the subscription subscribes again', async () => {
  const { gateway, told, subscribe } = await setUp();
  subscribe();
  await gateway.socket.answer(fresh('1', 'e:4'));
  await gateway.socket.event(event('f:5'));
  assert.deepEqual(gateway.socket.calls.at(-1)?.params, { wsId: 'w', after: 'e:4' });
  assert.deepEqual(told, [['snapshot', '/a', 'e:4']]);
});

test('a closed subscription delivers nothing more and unsubscribes from the daemon', async () => {
  const { gateway, told, subscribe } = await setUp();
  const subscription = subscribe();
  await gateway.socket.answer(fresh('1', 'e:4'));
  subscription.close();
  subscription.close();
  await gateway.socket.event(event('e:5'));
  assert.deepEqual(gateway.socket.calls.at(-1), {
    type: 'req',
    id: '2',
    method: 'events.unsubscribe',
    params: { wsId: 'w' },
  });
  assert.equal(gateway.socket.calls.length, 2);
  assert.deepEqual(told, [['snapshot', '/a', 'e:4']]);
});

test('a subscription closed before its answer unsubscribes when the answer comes', async () => {
  const { gateway, told, subscribe } = await setUp();
  subscribe().close();
  await gateway.socket.answer(fresh('1', 'e:4'));
  assert.deepEqual(
    gateway.socket.calls.map(({ method }) => method),
    ['events.subscribe', 'events.unsubscribe'],
  );
  assert.deepEqual(told, []);
});

test('a second subscription to a workstream replaces the first, whose answer is ignored', async () => {
  const { gateway, told, subscribe } = await setUp();
  const first = subscribe();
  subscribe();
  await gateway.socket.answer(fresh('1', 'e:4'));
  await gateway.socket.event(event('e:5'));
  await gateway.socket.answer(fresh('2', 'e:5'));
  await gateway.socket.event(event('e:6'));
  first.close();
  await gateway.socket.event(event('e:7'));
  assert.deepEqual(told, [
    ['snapshot', '/a', 'e:5'],
    ['content', 'e:6'],
    ['content', 'e:7'],
  ]);
});

test('a permanent error is reported and ends the subscription; a temporary one is retried', async () => {
  const { gateway, timers, told, subscribe } = await setUp();
  subscribe();
  await gateway.socket.answer({ id: '1', ok: false, error: { code: 'BUSY', message: 'later', retryable: true } });
  await timers.advance(1000);
  await gateway.socket.answer({ id: '2', ok: false, error: { code: 'NOT_FOUND', message: 'Unknown workstream' } });
  await timers.advance(60_000);
  assert.deepEqual(
    gateway.socket.calls.map(({ id }) => id),
    ['1', '2'],
  );
  assert.deepEqual(told, [['error', 'Unknown workstream']]);
});

test('the end of the client is reported to every subscription, even a later one, and keeps the cursor', async () => {
  const { gateway, told, client, subscribe } = await setUp(undefined, { token: 'secret' });
  const subscription = subscribe();
  await gateway.socket.answer(fresh('1', 'e:4'));
  const codes: unknown[] = [];
  const onError = (error: unknown) => codes.push(error instanceof RequestError && error.code);
  const quiet = { onSnapshot: () => undefined, onEvent: () => undefined, onError };
  client.subscribe('unanswered', quiet);
  await gateway.socket.drop(1008, 'unauthorized');
  client.subscribe('late', quiet);
  client.subscribe('closed at once', quiet).close();
  await settled();
  client.close();
  assert.deepEqual(
    { told, codes, cursor: subscription.cursor },
    {
      told: [
        ['snapshot', '/a', 'e:4'],
        ['error', 'unauthorized: the token was revoked or replaced, or has expired'],
      ],
      codes: ['UNAUTHORIZED', 'UNAUTHORIZED'],
      cursor: 'e:4',
    },
  );
});

test('without reconnect, a lost connection is reported to subscriptions; a closed client reports nothing', async () => {
  const { gateway, told, subscribe } = await setUp(undefined, { reconnect: false });
  subscribe();
  await gateway.socket.answer(fresh('1', 'e:4'));
  await gateway.socket.drop();
  const closed = await setUp();
  closed.subscribe();
  closed.client.close();
  await settled();
  assert.deepEqual(
    [told, closed.told],
    [
      [
        ['snapshot', '/a', 'e:4'],
        ['error', 'the connection was closed (1006)'],
      ],
      [],
    ],
  );
});

test('of very many subscriptions some begin later, in order, and the one that is waited for before the others', async () => {
  const { gateway, timers, client } = await setUp();
  const none = { onSnapshot: () => undefined, onEvent: () => undefined };
  const all = Array.from({ length: 70 }, (_, index) => client.subscribe(`w${index}`, none));
  const asked = () => gateway.socket.calls.map(({ params }) => /w\d+/.exec(JSON.stringify(params))?.[0]);
  assert.equal(asked().length, 60);
  all[69]?.hurry();
  all[69]?.hurry();
  all[0]?.hurry();
  assert.deepEqual(asked().slice(60), ['w69']);
  await timers.advance(1_000);
  assert.deepEqual(asked().slice(61), ['w60', 'w61', 'w62', 'w63', 'w64', 'w65', 'w66', 'w67', 'w68']);
});

test('after a refusal all that wait are held, and do not ask at the same moment again', async () => {
  const { gateway, timers, client } = await setUp();
  const none = { onSnapshot: () => undefined, onEvent: () => undefined };
  for (const wsId of ['a', 'b', 'c']) client.subscribe(wsId, none);
  const error = { code: 'RATE_LIMITED' as const, message: 'too many requests', retryable: true, retryAfterMs: 40 };
  for (const id of ['1', '2', '3']) await gateway.socket.answer({ id, ok: false, error });
  const counts: number[] = [];
  for (let step = 0; step < 4; step += 1) {
    await timers.advance(100);
    counts.push(gateway.socket.calls.length);
  }
  assert.deepEqual(counts, [4, 5, 6, 6]);
});
