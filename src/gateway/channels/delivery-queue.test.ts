import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { untilTrue } from '../../testing/until-true.ts';
import { ANYONE } from '../sharing/perception.ts';
import { type Channel, DeliveryError, NotNow } from './channel.ts';
import { createChannels } from './channels.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { insertDelivery } from './delivery-rows.ts';
import { renameChats } from './inbox/chat-rows.ts';

/** A queue whose channel sends each message when the test says so. What the database answers can be held back. */
async function setUp() {
  const store = await tempStore();
  const clock = fakeClock(1_000);
  const log = recordingLog();
  const begun: { what: string; end: PromiseWithResolvers<'taken'> }[] = [];
  const channel: Channel = {
    name: 'telegram',
    destinations: undefined,
    find: async (to) => to,
    deliver({ messageId, to }) {
      const end = Promise.withResolvers<'taken'>();
      begun.push({ what: `${messageId} to ${to}`, end });
      return end.promise;
    },
  };
  let held: Promise<void> | undefined;
  let waiting = 0;
  let rows = 0;
  const db = store.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (held) waiting += 1;
      await held;
      rows += result.rows.length;
      return result;
    },
  });
  const { commit } = store;
  const deps = { channels: createChannels([channel]), viewerOf: () => ANYONE, clock, log };
  const queue = new DeliveryQueue({ ...deps, store: { db, commit } });
  const stop = new AbortController();
  const running = queue.run(stop.signal);
  const sendAll = async (messages: readonly (readonly [messageId: string, to: string])[]) => {
    const message = { provider: 'telegram', message: 'x', from: 'run', acceptedMs: clock.now() };
    const statements = messages.map(([messageId, to]) => insertDelivery({ ...message, messageId, to }));
    await store.commit({ statements });
    queue.wake();
  };
  return {
    ...{ store, queue, begun, log, clock, stop },
    /** How many rows were read. */
    rows: () => rows,
    sent: () => begun.map(({ what }) => what),
    send: (messageId: string, to: string) => sendAll([[messageId, to]]),
    sendAll,
    /** What the channel begins is taken at once, until so many have begun. */
    async takes(count: number) {
      for (let index = 0; index < count; index += 1) {
        await untilTrue(() => begun.length > index);
        begun[index]?.end.resolve('taken');
      }
    },
    /** Looks for messages. What it finds is known when the result is called. */
    async looksSlowly(): Promise<() => void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      queue.wake();
      await untilTrue(() => waiting > 0);
      held = undefined;
      return resolve;
    },
    statusOf: async (messageId: string) =>
      (await store.db.selectFrom('outbox').select('status').where('message_id', '=', messageId).executeTakeFirst())
        ?.status,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await store.close();
    },
  };
}

/** What was begun has come to its end: the store answers over several turns. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}

test('a message that arrives while the queue looks for messages is not sent again', async () => {
  await using world = await setUp();
  await world.send('a', '1');
  await untilTrue(() => world.begun.length === 1);
  const goOn = await world.looksSlowly();
  world.begun[0]?.end.resolve('taken');
  await settled();
  assert.equal(await world.statusOf('a'), 'delivered');
  goOn();
  await settled();
  assert.deepEqual(world.sent(), ['a to 1']);
});

test('a message that arrives while the daemon stops is not sent again, and a failure then is no attempt', async () => {
  await using world = await setUp();
  await world.send('a', '1');
  await world.send('b', '2');
  await untilTrue(() => world.begun.length === 2);
  world.stop.abort();
  const closed = world.queue.close();
  world.begun[0]?.end.resolve('taken');
  world.begun[1]?.end.reject(new DeliveryError('the socket was closed', { retryable: true }));
  await closed;
  const stored = await world.store.db.selectFrom('outbox').select(['message_id', 'status', 'attempts']).execute();
  assert.deepEqual(stored, [
    { message_id: 'a', status: 'delivered', attempts: 1 },
    { message_id: 'b', status: 'pending', attempts: 0 },
  ]);
});

test('a message on its way to a chat that gets another id is not sent there at the same time', async () => {
  await using world = await setUp();
  await world.send('a', '-5');
  await world.send('b', '-5');
  await untilTrue(() => world.begun.length === 1);
  await world.store.commit({ statements: renameChats('telegram', { from: '-5', to: '-1007' }) });
  world.queue.wake();
  await settled();
  assert.deepEqual(world.sent(), ['a to -5']);
  world.begun[0]?.end.reject(new NotNow('the chat has another id now', { againInMs: 1 }));
  await untilTrue(() => world.begun.length === 2);
  world.begun[1]?.end.resolve('taken');
  await untilTrue(() => world.begun.length === 3);
  assert.deepEqual(world.sent(), ['a to -5', 'a to -1007', 'b to -1007']);
});

test('a message that is tried again keeps as much of the reason as one that is given up', async () => {
  await using world = await setUp();
  await world.send('a', '1');
  await untilTrue(() => world.begun.length === 1);
  world.begun[0]?.end.reject(new DeliveryError('x'.repeat(9_000), { retryable: true }));
  await settled();
  const stored = await world.store.db.selectFrom('outbox').select(['status', 'attempts', 'error']).execute();
  assert.deepEqual(stored, [{ status: 'pending', attempts: 1, error: 'x'.repeat(500) }]);
});

test('the end of a delivery looks at its destination alone, however many others wait', async () => {
  await using world = await setUp();
  const places = Array.from({ length: 300 }, (_, index) => `${index}`);
  await world.sendAll(['first', 'second'].flatMap((each) => places.map((to) => [`${each} ${to}`, to] as const)));
  await world.takes(600);
  await settled();
  assert.equal(world.sent().length, 600);
  for (const to of places) {
    const sent = world.sent().filter((one) => one.endsWith(` to ${to}`));
    assert.deepEqual(sent, [`first ${to} to ${to}`, `second ${to} to ${to}`]);
  }
  assert.ok(world.rows() < 5_000, `${world.rows()} rows`); // with all destinations each time, 17 000
});

test('a message to a new destination is not held up by those that many others have in line', async () => {
  await using world = await setUp();
  const many = Array.from({ length: 9 }, (_, to) =>
    Array.from({ length: 20 }, (__, n) => [`${to}-${n}`, `${to}`] as const),
  );
  await world.sendAll(many.flat());
  await untilTrue(() => world.begun.length === 8);
  await world.send('new', 'z');
  await world.takes(181);
  const at = world.sent().indexOf('new to z');
  assert.ok(at > 0 && at < 30, `${at}`);
});

test('what is put off is tried again when its time has come, and what comes behind it waits', async () => {
  await using world = await setUp();
  await world.sendAll([
    ['a', '1'],
    ['b', '1'],
    ['c', '2'],
  ]);
  await untilTrue(() => world.begun.length === 2);
  world.begun[0]?.end.reject(new DeliveryError('no', { retryable: true }));
  world.begun[1]?.end.reject(new NotNow('later', { againInMs: 5_000 }));
  await settled();
  await world.clock.advance(999);
  await settled();
  assert.deepEqual(world.sent(), ['a to 1', 'c to 2']);
  await world.clock.advance(1);
  await untilTrue(() => world.begun.length === 3);
  world.begun[2]?.end.resolve('taken');
  await untilTrue(() => world.begun.length === 4);
  await world.clock.advance(4_000);
  await untilTrue(() => world.begun.length === 5);
  assert.deepEqual(world.sent().slice(2), ['a to 1', 'b to 1', 'c to 2']);
});
