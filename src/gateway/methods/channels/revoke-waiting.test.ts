import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertDelivery } from '../../channels/delivery-rows.ts';
import { putChat } from '../../channels/inbox/chat-rows.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';

test('what waits for a person who is revoked is not sent, except what was sent there by name', async () => {
  await using it = await wholeGateway();
  const { store } = it;
  const chat = (name: string, kind: 'dm' | 'group') =>
    putChat({
      ...{ channel: 'telegram', chat: name, kind, session_key: `telegram:${kind}:${name}`, ws_id: 'w', title: 'Ada' },
      ...{ last_in_ms: 1, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: 1 },
    });
  const waits = (messageId: string, to: string, by: { from: string; wsId?: string }) =>
    insertDelivery({ messageId, provider: 'telegram', to, message: 'x', acceptedMs: 1, ...by });
  await store.commit({
    statements: [
      ...[chat('7', 'dm'), chat('-5', 'group')],
      ...[waits('answer', '7', { from: 'run', wsId: 'w' }), waits('reply', '7', { from: 'headgate' })],
      ...[waits('named', '7', { from: 'operator' }), waits('group', '-5', { from: 'run', wsId: 'w' })],
    ],
  });
  await it.call('channel.revoke', { channel: 'telegram', senderId: '7' });
  const rows = await store.db.selectFrom('outbox').select(['message_id', 'status']).orderBy('seq').execute();
  assert.deepEqual(
    rows.map(({ message_id: id, status }) => `${id} ${status}`),
    ['answer dead', 'reply dead', 'named pending', 'group pending'],
  );
});
