import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../testing/whole-gateway.ts';
import type { Channel } from './channel.ts';
import { putChat } from './inbox/chat-rows.ts';
import { approveSender, askForPairing } from './inbox/sender-rows.ts';
import { personalChat } from './personal-chat.ts';

const ADA = { channel: 'telegram', senderId: '7' };
const channel: Channel = {
  ...{ name: 'telegram', destinations: undefined, find: async (to) => to, deliver: async () => 'taken' },
  trustIn: async () => 'allowed',
};

test('the job of a user goes to the chat of nobody else, although the user was given its conversation', async () => {
  await using it = await wholeGateway();
  const { store, parts } = it;
  const owned = { ownerId: 'user_bob', visibility: 'private' as const };
  const { data } = await parts.workstreams.create({ owned, sessionKey: 'telegram:dm:7' });
  const chat = putChat({
    ...{ channel: 'telegram', chat: '7', kind: 'dm', session_key: 'telegram:dm:7', ws_id: data.wsId, title: 'Ada' },
    ...{ last_in_ms: 1, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: 1 },
  });
  await store.commit({ statements: [chat] });
  const next = () =>
    personalChat(
      { ownerId: 'user_bob', channel: undefined, before: undefined },
      { channels: { byName: () => channel }, store },
    );
  assert.equal(await next(), undefined, 'the person is linked to no user');
  const pairing = { codeHash: 'h', nowMs: 1 };
  await store.commit({
    statements: [
      askForPairing({ ...ADA, ...pairing, name: 'Bob', expiresMs: 2, most: 3 }),
      approveSender(ADA, { ...pairing, userId: 'user_bob', by: 'operator' }),
    ],
  });
  assert.deepEqual(await next(), { provider: 'telegram', to: '7' });
});
