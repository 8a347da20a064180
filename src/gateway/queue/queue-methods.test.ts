import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actingUserIn } from '../mcp/oauth/acting-user.ts';
import { DAEMON } from '../sharing/perception.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

/** A session whose run goes on until `answer`, and the messages that wait for it; each has its text as its key. */
async function setUp(gateway: WholeGateway, ...waiting: string[]) {
  const wsId = await gateway.main();
  const answered = Promise.withResolvers<void>();
  gateway.puppet.turn(answered.promise);
  await gateway.call('workstream.send', { wsId, message: 'first' });
  for (const message of waiting) {
    const params = { wsId, message, queue: true, idempotencyKey: message };
    assert.deepEqual(await gateway.call('workstream.send', params, { scope: 'write' }), {
      status: 'ok',
      runId: message,
      queued: true,
    });
  }
  return { wsId, answer: () => answered.resolve() };
}

const waitingIn = async (gateway: WholeGateway, wsId: string) =>
  (await gateway.call('queue.list', { wsId }, { scope: 'read' })).messages.map(({ message }) => message);

/** What the model was asked, once nothing runs or waits any more. */
async function askedIn(gateway: WholeGateway, wsId: string, last: string) {
  const asked = () =>
    gateway.puppet.requests.map(({ messages }) => {
      const last = messages.at(-1);
      return last?.role === 'user' ? last.content : undefined;
    });
  await turnsUntil(() => asked().includes(last), last);
  await gateway.isIdle(wsId);
  return asked();
}

test('waiting messages are edited, moved and taken back, and are sent in their new order', async () => {
  await using gateway = await wholeGateway();
  const { wsId, answer } = await setUp(gateway, 'a', 'b', 'c', 'd');
  const rights = { scope: 'write' } as const;
  await gateway.call('queue.edit', { wsId, runId: 'b', message: ' bee ' }, rights);
  await gateway.call('queue.move', { wsId, runId: 'd', to: 0 }, rights);
  await gateway.call('queue.move', { wsId, runId: 'a', to: 99 }, rights);
  assert.deepEqual(await gateway.call('queue.remove', { wsId, runId: 'c' }, rights), { removed: true });
  assert.deepEqual(await waitingIn(gateway, wsId), ['d', 'bee', 'a']);
  answer();
  assert.deepEqual(await askedIn(gateway, wsId, 'a'), ['first', 'd', 'bee', 'a']);
  assert.deepEqual(await gateway.call('queue.remove', { wsId, runId: 'a' }), { removed: false });
});

test('a waiting message names the user who sent it', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await setUp(gateway, 'of the operator');
  const sent = { wsId, message: 'of a user', queue: true, idempotencyKey: 'u' };
  await gateway.call('workstream.send', sent, { id: 'user:bob', userId: 'bob' });
  const { messages } = await gateway.call('queue.list', { wsId });
  assert.deepEqual(
    messages.map(({ message, sender }) => [message, sender]),
    [
      ['of the operator', undefined],
      ['of a user', 'bob'],
    ],
  );
});

test('taking a message back again with the same key has the same answer, also after a restart', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await setUp(gateway, 'a', 'b');
  const remove = (idempotencyKey: string) => gateway.call('queue.remove', { wsId, runId: 'a', idempotencyKey });
  assert.deepEqual([await remove('k1'), await remove('k1')], [{ removed: true }, { removed: true }]);
  await gateway.restart();
  assert.deepEqual([await remove('k1'), await remove('k2')], [{ removed: true }, { removed: false }]);
});

test('a stream that is behind gets how each message waits, or that it does not, once it has caught up', async () => {
  await using gateway = await wholeGateway();
  const { wsId, answer } = await setUp(gateway);
  const told: string[] = [];
  const room = { isThere: false };
  const reader = gateway.gateway.streams.follow(wsId, gateway.store.bounds(wsId).last, {
    viewer: DAEMON,
    onEnd: () => assert.fail('it goes on'),
    sink: {
      ready: () => room.isThere,
      write: (entries) => void told.push(...entries.map(({ type }) => type)),
      transient: (json) => void told.push(json),
    },
  });
  for (const message of ['a', 'b', 'c'])
    await gateway.call('workstream.send', { wsId, message, queue: true, idempotencyKey: message });
  await gateway.call('queue.remove', { wsId, runId: 'a' });
  await gateway.call('queue.remove', { wsId, runId: 'c' });
  answer();
  await askedIn(gateway, wsId, 'b');
  room.isThere = true;
  reader.resume();
  const shown = told.filter((text) => text === 'user_turn' || text.startsWith('{'));
  assert.deepEqual(shown, [
    'user_turn',
    '{"type":"message_dropped","msg_id":"a"}',
    '{"type":"message_dropped","msg_id":"c"}',
    '{"type":"message_dispatched","msg_id":"b","run_id":"b"}',
  ]);
  reader.close();
});

test('a restart keeps the order and the texts, and sends each message once', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await setUp(gateway, 'a', 'b', 'c');
  await gateway.call('queue.move', { wsId, runId: 'c', to: 0 });
  await gateway.call('queue.edit', { wsId, runId: 'b', message: 'bee' });
  await gateway.call('queue.remove', { wsId, runId: 'a' });
  await gateway.restart();
  const asked = await askedIn(gateway, wsId, 'bee');
  assert.deepEqual(asked.slice(-3), ['first', 'c', 'bee']);
});

test('a message that no longer waits cannot be changed, and neither can its text be empty', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await setUp(gateway, 'a');
  const gone = { code: 'NOT_FOUND', message: 'That message no longer waits: it was sent or taken back' };
  assert.deepEqual(await gateway.refusal('queue.edit', { wsId, runId: 'x', message: 'y' }), gone);
  assert.deepEqual(await gateway.refusal('queue.move', { wsId, runId: 'x', to: 0 }), gone);
  const empty = { code: 'INVALID_REQUEST', message: 'Empty message' };
  assert.deepEqual(await gateway.refusal('queue.edit', { wsId, runId: 'a', message: '  ' }), empty);
  assert.equal(
    (await gateway.refusal('queue.edit', { wsId, runId: 'a', message: 'y' }, { scope: 'read' })).code,
    'FORBIDDEN',
  );
  assert.deepEqual(await waitingIn(gateway, wsId), ['a']);
});

test('an edit by a caller with lesser rights lowers the rights of the message', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await setUp(gateway);
  await gateway.call('workstream.send', { wsId, message: 'a', queue: true, idempotencyKey: 'a' });
  await gateway.call('queue.edit', { wsId, runId: 'a', message: 'b' }, { scope: 'write', id: 'bob' });
  const row = await gateway.store.db
    .selectFrom('runs')
    .select('request_json')
    .where('run_id', '=', 'a')
    .executeTakeFirst();
  assert.deepEqual(JSON.parse(row?.request_json ?? ''), { message: 'b', rights: 'write', editedBy: ['bob'] });
});

test('an edited message comes from whoever edited it, and its run uses nobody else’s accounts', async () => {
  await using gateway = await wholeGateway();
  const { wsId, answer } = await setUp(gateway);
  const send = (message: string) =>
    gateway.call(
      'workstream.send',
      { wsId, message, queue: true, idempotencyKey: message },
      { id: 'user:ada', userId: 'ada' },
    );
  await send('a');
  await send('b');
  const bob = { scope: 'write', id: 'user:bob', userId: 'bob' } as const;
  await gateway.call('queue.edit', { wsId, runId: 'a', message: 'of bob' }, bob);
  await gateway.call('queue.edit', { wsId, runId: 'b', message: 'of the operator' });
  const { messages } = await gateway.call('queue.list', { wsId });
  assert.deepEqual(
    messages.map(({ message, sender }) => [message, sender]),
    [
      ['of bob', 'bob'],
      ['of the operator', undefined],
    ],
  );
  const goesOn = Promise.withResolvers<void>();
  gateway.puppet.turn(goesOn.promise);
  answer();
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the edited message runs');
  const { store } = gateway;
  assert.equal(await actingUserIn({ store, users: { count: 2 } }, wsId), 'bob');
  goesOn.resolve();
  await gateway.isIdle(wsId);
  const paid = await store.db.selectFrom('usage').select(['run_id', 'principal']).orderBy('run_id').execute();
  const payers = paid.flatMap(({ run_id, principal }) => (['a', 'b'].includes(run_id) ? [[run_id, principal]] : []));
  assert.deepEqual(payers, [
    ['a', 'user:bob'],
    ['b', 'ada'],
  ]);
});

test('a change that cannot be stored changes nothing', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await setUp(gateway, 'a', 'b');
  gateway.disk.fails = () => true;
  assert.equal((await gateway.refusal('queue.edit', { wsId, runId: 'a', message: 'y' })).code, 'UNAVAILABLE');
  assert.equal((await gateway.refusal('queue.move', { wsId, runId: 'b', to: 0 })).code, 'UNAVAILABLE');
  gateway.disk.fails = undefined;
  assert.deepEqual(await waitingIn(gateway, wsId), ['a', 'b']);
});

test('of two changes at once, the one that is stored counts, although the other one cannot be stored', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await setUp(gateway, 'a');
  gateway.disk.fails = (unit) => JSON.stringify(unit.statements).includes('refused text');
  const edit = (message: string) => ({ wsId, runId: 'a', message });
  const [refused] = await Promise.all([
    gateway.refusal('queue.edit', edit('refused text')),
    gateway.call('queue.edit', edit('stored text')),
  ]);
  assert.equal(refused.code, 'UNAVAILABLE');
  assert.deepEqual(await waitingIn(gateway, wsId), ['stored text']);
});
