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
  const db = store.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (held) waiting += 1;
      await held;
      return result;
    },
  });
  const { commit } = store;
  const deps = { channels: createChannels([channel]), viewerOf: () => ANYONE, clock, log };
  const queue = new DeliveryQueue({ ...deps, store: { db, commit } });
  const stop = new AbortController();
  const running = queue.run(stop.signal);
  return {
    ...{ store, queue, begun, log },
    sent: () => begun.map(({ what }) => what),
    async send(messageId: string, to: string) {
      const message = { messageId, provider: 'telegram', to, message: 'x', from: 'run', acceptedMs: clock.now() };
      await store.commit({ statements: [insertDelivery(message)] });
      queue.wake();
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
