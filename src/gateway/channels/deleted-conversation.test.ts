import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hideDeleted, removeDeleted } from '../store/deletion.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { insertDelivery } from './delivery-rows.ts';
import { insertChunks, readChunks, updateChunk } from './ledger/chunk-rows.ts';

const TO = { channel: 'telegram', to: '7' };

/** More answers of a conversation than are removed at once, one of them sent in part, and a message of somebody else. */
async function setUp() {
  const gateway = await wholeGateway();
  const { store } = gateway;
  const { wsId } = await gateway.call('workstream.create', {});
  const message = { provider: 'telegram', to: '7', message: 'secret', from: 'run', acceptedMs: 1 };
  const answers = Array.from({ length: 250 }, (_, index) =>
    insertDelivery({ ...message, messageId: `answer ${index}`, wsId }),
  );
  const parts = ['one', 'two'].map((text) => ({ formatted: text, plain: text }));
  await store.commit({
    statements: [
      ...answers,
      insertDelivery({ ...message, messageId: 'of others', wsId: 'other' }),
      ...insertChunks({ ...TO, messageId: 'answer 0' }, parts, 1),
      ...insertChunks({ ...TO, messageId: 'of others' }, parts, 1),
      updateChunk({ message_id: 'answer 0', chunk: 0 }, { state: 'accepted', providerId: 'x' }, 2),
    ],
  });
  return { gateway, wsId };
}

const sentIn = ({ store }: WholeGateway) => store.db.selectFrom('outbox').select(['message_id', 'status']).execute();

const textsOf = async ({ store }: WholeGateway, messageId: string) =>
  (await readChunks(store, messageId)).map(({ plain }) => plain);

test('nothing of a deleted conversation is sent or kept, and other messages are', async () => {
  const { gateway, wsId } = await setUp();
  await using _ = gateway;
  await gateway.call('workstream.delete', { wsId });
  assert.deepEqual(await sentIn(gateway), [{ message_id: 'of others', status: 'pending' }]);
  assert.deepEqual([await textsOf(gateway, 'answer 0'), await textsOf(gateway, 'of others')], [[null], ['one', 'two']]);
});

test('what a deleted conversation had to send is given up with its deletion, and removed by the next daemon', async () => {
  const { gateway, wsId } = await setUp();
  await using _ = gateway;
  await gateway.store.commit({ statements: hideDeleted(wsId) }); // and here the daemon died
  const rows = await sentIn(gateway);
  assert.deepEqual(Map.groupBy(rows, ({ status }) => status).get('dead')?.length, 250);
  await gateway.restart();
  await removeDeleted(gateway.store, () => false);
  assert.deepEqual(await sentIn(gateway), [{ message_id: 'of others', status: 'pending' }]);
});
