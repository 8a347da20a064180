import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeGateway } from '../../testing/whole-gateway.ts';
import { readChat, readFirstNumber, renameChats } from '../inbox/chat-rows.ts';
import type { ChatMessage } from './chat-message.ts';
import { TELEGRAM } from './chat-service.ts';
import { obtainSession } from './chat-sessions.ts';

const messageIn = (group: string): ChatMessage => ({
  ...{ chat: group, chatId: group, chatKind: 'group', chatTitle: 'Garden', sessionKey: `telegram:group:${group}` },
  ...{ senderId: '7', senderName: 'Ada', messageId: '1', text: 'look', foreign: [], files: [] },
  ...{ unreadable: undefined, isForBot: true, command: undefined },
});

test('a group that has another number now keeps its first one when its conversation is deleted', async () => {
  await using it = await wholeGateway();
  const { store, workstreams } = it.parts;
  const as = { userId: '', session: 'chat' as const };
  const sessionOf = (group: string) =>
    obtainSession(messageIn(group), as, { service: TELEGRAM, store, workstreams, clock: it.clock });
  const { data } = await sessionOf('-5');
  await store.commit({ statements: renameChats('telegram', { from: '-5', to: '-1007' }) });
  assert.equal((await sessionOf('-1007')).data.wsId, data.wsId);
  await it.call('workstream.delete', { wsId: data.wsId });
  const next = await sessionOf('-1007');
  assert.notEqual(next.data.wsId, data.wsId);
  assert.equal((await sessionOf('-1007')).data.wsId, next.data.wsId);
  const chat = await readChat(store, { channel: 'telegram', chat: '-1007' });
  assert.deepEqual([chat?.ws_id, chat?.session_key], [next.data.wsId, 'telegram:group:-5']);
  assert.equal(await readFirstNumber(store, { channel: 'telegram', group: '-1007' }), '-5');
});
