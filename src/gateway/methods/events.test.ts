import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

/** The subscriptions of a connection. */
function subscriptions() {
  const followed = new Map<string, number>();
  const add = ({ wsId }: { wsId: string }, offset: number) => void followed.set(wsId, offset);
  return { followed, subscriptions: { add, remove: (wsId: string) => followed.delete(wsId) } };
}

async function conversation() {
  const gateway = await wholeGateway();
  await gateway.call('agent', { message: 'hello', idempotencyKey: 'k1' });
  const wsId = await gateway.main();
  const { last } = gateway.store.bounds(wsId);
  const { epoch } = gateway.store;
  const connection = subscriptions();
  return {
    gateway,
    wsId,
    last,
    epoch,
    ...connection,
    subscribe: (after?: string) =>
      gateway.call('events.subscribe', { wsId, ...(after !== undefined && { after }) }, connection),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

test('a subscription without a cursor starts with a snapshot at the end of the log', async () => {
  await using talk = await conversation();
  const { cursor, recovered, reason, snapshot } = await talk.subscribe();
  assert.deepEqual([cursor, recovered, reason], [`${talk.epoch}:${talk.last}`, false, undefined]);
  assert.deepEqual(
    snapshot?.messages.map(({ content }) => content),
    ['hello', 'ok'],
  );
  assert.deepEqual([...talk.followed], [[talk.wsId, talk.last]]);
});

test('a cursor of this log can be continued, including its first and last offset', async () => {
  await using talk = await conversation();
  for (const offset of [0, 3, talk.last]) {
    const cursor = `${talk.epoch}:${offset}`;
    assert.deepEqual(await talk.subscribe(cursor), { cursor, recovered: true });
    assert.deepEqual([...talk.followed], [[talk.wsId, offset]]);
  }
});

test('the reason why a cursor cannot be continued is returned with the snapshot', async () => {
  await using talk = await conversation();
  await talk.gateway.store.dropPrefix(talk.wsId, 4);
  const cursors = {
    epoch: `other:${talk.last}`,
    ahead: `${talk.epoch}:${talk.last + 1}`,
    expired: `${talk.epoch}:3`,
    none: 'not a cursor',
    empty: '',
  };
  for (const [name, after] of Object.entries(cursors)) {
    const { cursor, recovered, reason, snapshot } = await talk.subscribe(after);
    const expected = ['epoch', 'ahead', 'expired'].includes(name) ? name : undefined;
    assert.deepEqual([name, reason, recovered, cursor], [name, expected, false, `${talk.epoch}:${talk.last}`]);
    assert.equal(snapshot?.messages.length, 2);
  }
  assert.equal((await talk.subscribe(`${talk.epoch}:4`)).recovered, true, 'everything after 4 is still there');
});

test('during a turn the snapshot ends before the turn, which then arrives as events', async () => {
  await using talk = await conversation();
  const { gateway, wsId } = talk;
  gateway.puppet.turn('half', calling('touch'));
  await gateway.call('workstream.send', { wsId, message: 'go on' });
  await gateway.reaches(wsId, 'approve_request');
  const { snapshot } = await talk.subscribe();
  assert.deepEqual(
    [snapshot?.messages.map(({ content }) => content), snapshot?.workstream.state, snapshot?.pendingApprovals.length],
    [['hello', 'ok', 'go on'], 'attention', 1],
  );
  const after = talk.followed.get(wsId) ?? 0;
  const types = (await gateway.events(wsId)).slice(after).map(({ type }) => type);
  assert.deepEqual(types, [
    'thinking_start',
    'ws_state',
    'thinking_stop',
    'content',
    'stream_end',
    'status',
    'approve_request',
    'ws_state',
  ]);
});

test('unsubscribing returns whether there was a subscription', async () => {
  await using talk = await conversation();
  await talk.subscribe();
  const unsubscribe = () => talk.gateway.call('events.unsubscribe', { wsId: talk.wsId }, talk);
  assert.deepEqual(
    [await unsubscribe(), await unsubscribe()],
    [
      { ok: true, removed: true },
      { ok: true, removed: false },
    ],
  );
});

test('subscribing to an unknown workstream is NOT_FOUND, and without a connection it is refused', async () => {
  await using talk = await conversation();
  const { gateway } = talk;
  const unknown = await gateway.refusal('events.subscribe', { wsId: 'f'.repeat(32) }, talk);
  assert.deepEqual(unknown, { code: 'NOT_FOUND', message: 'Unknown workstream' });
  assert.deepEqual([...talk.followed], []);
  const message = 'Subscriptions need a WebSocket; over HTTP open /v1/api/events';
  for (const method of ['events.subscribe', 'events.unsubscribe'] as const) {
    assert.deepEqual(await gateway.refusal(method, { wsId: talk.wsId }), { code: 'INVALID_REQUEST', message });
  }
});
