import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../../testing/temp-store.ts';
import { insertDelivery } from '../delivery-rows.ts';
import { migrationIn } from '../telegram/inbound/incoming.ts';
import { putChat, readChatNow, readFirstNumber, renameChats } from './chat-rows.ts';

const chat = (name: string, wsId: string, { channel = 'telegram', createdMs = 1 } = {}) =>
  putChat({
    ...{ channel, chat: name, kind: 'group', session_key: keyOf(channel, name), ws_id: wsId, title: '' },
    ...{ last_in_ms: null, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: createdMs },
  });
const keyOf = (channel: string, name: string) => `${channel}:group:${name.replace(':', ':topic:')}`;
const message = (messageId: string, to: string) =>
  insertDelivery({ messageId, provider: 'telegram', to, message: 'x', from: 'run', acceptedMs: 1 });
const about = { update_id: 1, message: { message_id: 2, date: 3 } };

test('a group that becomes a supergroup keeps its sessions and its waiting messages, whichever of both notes comes first, or twice', async () => {
  const of = (id: number, note: object) =>
    migrationIn(JSON.parse(JSON.stringify({ ...about, message: { ...about.message, chat: { id }, ...note } })));
  const told = of(-5, { migrate_to_chat_id: -1007 });
  const toldAgain = of(-1007, { migrate_from_chat_id: -5 });
  assert.ok(told);
  assert.deepEqual([told, of(-5, {})], [toldAgain, undefined]);
  await using store = await tempStore();
  await store.commit({
    statements: [
      ...[
        chat('-5', 'general'),
        chat('-5:9', 'topic'),
        chat('-55', 'other'),
        chat('-5', 'elsewhere', { channel: 'whatsapp' }),
      ],
      ...[chat('-1007', 'made by an early message'), message('a', '-5:9'), message('b', '-55')],
    ],
  });
  for (let time = 1; time <= 2; time += 1) await store.commit({ statements: renameChats('telegram', told) });
  const chats = await store.db.selectFrom('channel_chats').select(['chat', 'ws_id']).orderBy('ws_id').execute();
  assert.deepEqual(
    chats.map(({ chat: name, ws_id: wsId }) => [name, wsId]),
    [
      ['-5', 'elsewhere'],
      ['-1007', 'general'],
      ['-55', 'other'],
      ['-1007:9', 'topic'],
    ],
  );
  const nowOf = async (name: string) => (await readChatNow(store, { channel: 'telegram', chat: name }))?.chat;
  assert.deepEqual(await Promise.all(['-5', '-5:9', '-1007:9', '-55', '-5:8', '-8'].map(nowOf)), [
    ...['-1007', '-1007:9', '-1007:9', '-55', undefined, undefined],
  ]);
  const firstOf = (group: string) => readFirstNumber(store, { channel: 'telegram', group });
  assert.deepEqual([await firstOf('-1007'), await firstOf('-55'), await firstOf('-8')], ['-5', '-55', undefined]);
  await store.commit({ statements: [chat('-1007:2', 'a later topic', { createdMs: 2 })] });
  assert.equal(await firstOf('-1007'), '-5');
  await store.commit({ statements: [{ sql: `DELETE FROM channel_chats WHERE chat = '-1007'`, parameters: [] }] });
  assert.equal(await firstOf('-1007'), '-5', 'by the topic that has moved');
  const waiting = await store.db.selectFrom('outbox').select('destination').orderBy('message_id').execute();
  assert.deepEqual(waiting, [{ destination: '-1007:9' }, { destination: '-55' }]);
});
