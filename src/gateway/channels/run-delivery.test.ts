import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../testing/temp-store.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { DAEMON } from '../sharing/perception.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';
import { createChannels } from './channels.ts';
import { insertDelivery } from './delivery-rows.ts';
import { noteWritten, putChat } from './inbox/chat-rows.ts';
import { approveSender, askForPairing, restoreSender, revokeSender } from './inbox/sender-rows.ts';
import { resolveDelivery } from './run-delivery.ts';

const ADA = { channel: 'telegram', senderId: '7' };
const TELEGRAM = { name: 'telegram', destinations: undefined, find: async (to: string) => to };
const channels = createChannels([{ ...TELEGRAM, deliver: async () => 'taken', trustIn: async () => 'allowed' }]);

/** A job whose answers went to the chat of a person, who wrote to another session. */
async function setUp() {
  const store = await tempStore();
  const sent = { messageId: 'answer', provider: 'telegram', to: '7', message: 'x', from: 'run', acceptedMs: 2 };
  await store.commit({
    statements: [
      putChat({
        ...{ channel: 'telegram', chat: '7', kind: 'dm', session_key: 'telegram:dm:7', ws_id: 'chat', title: 'Ada' },
        ...{ last_in_ms: null, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: 1 },
      }),
      noteWritten({ channel: 'telegram', chat: '7' }, { senderId: '7', nowMs: 2 }),
      insertDelivery({ ...sent, wsId: 'job' }),
    ],
  });
  return {
    store,
    next: (wsId: string, asked: { to?: string } = {}) =>
      resolveDelivery({ viewer: DAEMON, deliver: true, channel: 'last', wsId, ...asked }, { channels, store }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

test('`last` leads neither from the chat nor from a job to a person who was revoked, or restored and not approved again', async () => {
  await using stage = await setUp();
  const chat = { provider: 'telegram', to: '7' };
  assert.deepEqual([await stage.next('job'), await stage.next('chat')], [chat, chat]);
  const by = { by: 'operator', nowMs: 3 };
  for (const change of [revokeSender(ADA, by), restoreSender(ADA, by)]) {
    await stage.store.commit({ statements: [change] });
    for (const session of ['job', 'chat']) await assert.rejects(stage.next(session), { code: 'INVALID_REQUEST' });
  }
  assert.deepEqual(await stage.next('job', { to: '7' }), chat, 'somebody names it');
});

test('`last` does not lead to the chat of a person whose conversation was given to somebody else', async () => {
  await using it = await wholeGateway();
  const { store, parts } = it;
  const { data } = await parts.workstreams.create({ owned: { ownerId: '', visibility: 'private' } });
  const { wsId } = data;
  const sent = { messageId: 'answer', provider: 'telegram', to: '7', message: 'x', from: 'run', acceptedMs: 2 };
  await store.commit({
    statements: [
      putChat({
        ...{ channel: 'telegram', chat: '7', kind: 'dm', session_key: 'telegram:dm:7', ws_id: wsId, title: 'Ada' },
        ...{ last_in_ms: 1, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: 1 },
      }),
      ...['job', wsId].map((by) => insertDelivery({ ...sent, messageId: `answer of ${by}`, wsId: by })),
    ],
  });
  const next = (of: string, asked: { to?: string } = {}) =>
    resolveDelivery({ viewer: DAEMON, deliver: true, channel: 'last', wsId: of, ...asked }, { channels, store });
  const own = (values: { owner_id: string; visibility: 'private' | 'shared' }) =>
    store.commit({ statements: [setWorkstream(wsId, values)] });
  const chat = { provider: 'telegram', to: '7' };
  const places = async () => [await next('job'), await next(wsId)];
  assert.deepEqual(await places(), [chat, chat]);
  await own({ owner_id: 'user_bob', visibility: 'private' });
  for (const session of ['job', wsId]) await assert.rejects(next(session), { code: 'INVALID_REQUEST' });
  assert.deepEqual(await next(wsId, { to: '7' }), chat, 'somebody names it');
  await own({ owner_id: 'user_bob', visibility: 'shared' });
  assert.deepEqual(await places(), [chat, chat], 'everybody may read it');
  await own({ owner_id: 'user_bob', visibility: 'private' });
  const pairing = { codeHash: 'h', nowMs: 1 };
  await store.commit({
    statements: [
      askForPairing({ ...ADA, ...pairing, name: 'Bob', expiresMs: 2, most: 3 }),
      approveSender(ADA, { ...pairing, userId: 'user_bob', by: 'operator' }),
    ],
  });
  assert.deepEqual(await places(), [chat, chat], 'the chat is of the person whom the conversation was given to');
});
