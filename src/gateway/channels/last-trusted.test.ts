import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../testing/temp-store.ts';
import { DAEMON } from '../sharing/perception.ts';
import { type Channels, createChannels } from './channels.ts';
import { insertDelivery } from './delivery-rows.ts';
import { putChat } from './inbox/chat-rows.ts';
import { resolveDelivery } from './run-delivery.ts';

test('`last` leads neither from a session nor from a job to a chat in which whoever wrote last may write no more', async () => {
  await using store = await tempStore();
  const direct = { channel: 'telegram', kind: 'dm', session_key: 'telegram:dm:7' } as const;
  const early = { messageId: 'early', provider: 'telegram', to: '8', message: 'x', from: 'run', acceptedMs: 1 };
  const group = { channel: 'telegram', chat: '-5', kind: 'group', session_key: 'telegram:group:-5' } as const;
  const rest = { title: '', last_out_ms: null, owes_notice: 0, created_ms: 1 } as const;
  await store.commit({
    statements: [
      putChat({ ...direct, ...rest, chat: '7', ws_id: 'chat', last_in_ms: 2, last_sender: '7' }),
      putChat({ ...group, ...rest, ws_id: 'chat', last_in_ms: 1, last_sender: '9' }),
      putChat({ ...direct, ...rest, chat: '8', ws_id: 'other', last_in_ms: 1, last_sender: '8' }),
      insertDelivery({ ...early, wsId: 'early' }),
      ...['a', 'b'].map((messageId) => insertDelivery({ ...early, messageId, to: '7', wsId: 'early' })),
    ],
  });
  const trusting = (...trusted: string[]) =>
    createChannels([
      {
        ...{ name: 'telegram', destinations: undefined, find: async (to: string) => to, deliver: async () => 'taken' },
        trustIn: async (sender, { chat, kind }) =>
          trusted.includes(`${sender} in ${kind} ${chat}`) ? 'allowed' : undefined,
      },
    ]);
  const next = (wsId: string, by: Channels) =>
    resolveDelivery({ viewer: DAEMON, deliver: true, channel: 'last', wsId }, { channels: by, store });
  const both = trusting('9 in group -5', '8 in dm 8');
  assert.deepEqual(
    [await next('chat', both), await next('early', both)],
    [
      { provider: 'telegram', to: '-5' },
      { provider: 'telegram', to: '8' },
    ],
  );
  for (const session of ['chat', 'early']) await assert.rejects(next(session, trusting()), { code: 'INVALID_REQUEST' });
});
