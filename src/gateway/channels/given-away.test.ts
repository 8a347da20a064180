import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallAs, wholeGateway } from '../testing/whole-gateway.ts';
import { insertDelivery } from './delivery-rows.ts';
import { putChat } from './inbox/chat-rows.ts';

const OPERATOR: CallAs = { id: 'operator' };

test('what waits for a direct chat ends when its conversation is given to somebody else, but not what was sent there by name', async () => {
  await using it = await wholeGateway();
  const { userId } = await it.call('user.create', {
    ...{ username: 'cleo', displayName: 'Cleo', password: 'long enough', roles: ['builtin-operator'] },
  });
  const { wsId } = await it.call('workstream.create', { visibility: 'private' }, OPERATOR);
  const message = { provider: 'telegram', to: '7', message: 'x', from: 'run', acceptedMs: 2 };
  await it.store.commit({
    statements: [
      putChat({
        ...{ channel: 'telegram', chat: '7', kind: 'dm', session_key: 'telegram:dm:7', ws_id: wsId, title: 'Ada' },
        ...{ last_in_ms: 1, last_out_ms: null, last_sender: '7', owes_notice: 0, created_ms: 1 },
      }),
      insertDelivery({ ...message, messageId: 'answer', wsId }),
      insertDelivery({ ...message, messageId: 'card', from: 'headgate' }),
      insertDelivery({ ...message, messageId: 'by name', from: 'bob' }),
      insertDelivery({ ...message, messageId: 'elsewhere', to: '8', wsId }),
    ],
  });
  const waiting = async () => {
    const rows = await it.store.db.selectFrom('outbox').select(['message_id', 'status']).orderBy('seq').execute();
    return rows.flatMap(({ message_id: id, status }) => (status === 'pending' ? id : []));
  };
  await it.call('workstream.share', { wsId, visibility: 'shared' }, OPERATOR);
  assert.deepEqual(await waiting(), ['answer', 'card', 'by name', 'elsewhere']);
  await it.call('workstream.share', { wsId, visibility: 'private', userId }, OPERATOR);
  assert.deepEqual(await waiting(), ['by name', 'elsewhere']);
});
