import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOfCode } from '../../channels/chats/pairing-code.ts';
import { putChat } from '../../channels/inbox/chat-rows.ts';
import { askForPairing, readSender } from '../../channels/inbox/sender-rows.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';

const CODE = 'ABCDE-23456';
const SESSION = 'telegram:dm:7';

test('a code cannot give the conversation of one user to another; it stays valid until somebody has decided about the chat', async () => {
  await using it = await wholeGateway();
  const { store } = it;
  const made = await it.parts.workstreams.create({
    ...{ owned: { ownerId: 'user_ada', visibility: 'private' }, sessionKey: SESSION, generatedName: 'Telegram: Ada' },
  });
  const ask = askForPairing({
    ...{ channel: 'telegram', senderId: '7', name: 'Ada', codeHash: hashOfCode(CODE), most: 3 },
    ...{ nowMs: it.clock.now(), expiresMs: it.clock.now() + 1_000 },
  });
  const chat = putChat({
    ...{ channel: 'telegram', chat: '7', kind: 'dm', session_key: SESSION, ws_id: made.data.wsId, title: 'Ada' },
    ...{ last_in_ms: 1, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: 1 },
  });
  await store.commit({ statements: [chat, ask] });
  const pairing = { channel: 'telegram', code: CODE };
  const refused = await it.refusal('channel.pair', pairing);
  assert.deepEqual([refused.code, refused.message.includes(made.data.wsId)], ['CONFLICT', true]);
  assert.equal((await readSender(store, { channel: 'telegram', senderId: '7' }))?.status, 'pending');
  await it.call('workstream.delete', { wsId: made.data.wsId });
  assert.equal((await it.call('channel.pair', pairing)).senderId, '7');
});
