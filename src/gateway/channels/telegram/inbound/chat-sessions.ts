import type { Clock } from '../../../../clock.ts';
import { DAEMON } from '../../../sharing/perception.ts';
import type { ChatTable } from '../../../store/schema/channels/channel-schema.ts';
import type { Store } from '../../../store/store.ts';
import { MAIN } from '../../../workstreams/session-keys.ts';
import type { Workstream } from '../../../workstreams/workstream.ts';
import type { Workstreams } from '../../../workstreams/workstreams.ts';
import { putChat, readChat } from '../../inbox/chat-rows.ts';
import type { TelegramSettings } from '../telegram-settings.ts';
import type { IncomingMessage } from './incoming.ts';

interface ChatSessionDeps {
  store: Pick<Store, 'db' | 'commit'>;
  workstreams: Pick<Workstreams, 'findByKey' | 'create' | 'obtainByKey'>;
  clock: Pick<Clock, 'now'>;
}

/** The session key of a chat: that of its first id, if the group got another one. */
function sessionKeyOf({ chat, chatKind }: Pick<IncomingMessage, 'chat' | 'chatKind'>): string {
  const [id, topic] = chat.split(':');
  return topic === undefined ? `telegram:${chatKind}:${id}` : `telegram:${chatKind}:${id}:topic:${topic}`;
}

/**
 * The workstream of a chat. The first message makes it: private, of the user whom the sender is linked to, or of the
 * operator. It is stored together with the chat. A closed one is opened again; a deleted one is replaced.
 */
export async function obtainSession(
  message: IncomingMessage,
  { userId, session }: { userId: string; session: TelegramSettings['session'] },
  deps: ChatSessionDeps,
): Promise<Workstream> {
  const { store, workstreams } = deps;
  const known = await readChat(store, { channel: 'telegram', chat: message.chat });
  const isMain = message.chatKind === 'dm' && session === 'main';
  const isAsSet = known !== undefined && (known.session_key === MAIN) === isMain;
  const found = isAsSet ? await workstreams.findByKey(known.ws_id, DAEMON) : undefined;
  if (found) return found;
  const nowMs = deps.clock.now();
  if (isMain) {
    const main = await workstreams.obtainByKey(MAIN, DAEMON);
    const row = rowOf(message, { sessionKey: MAIN, wsId: main.data.wsId, nowMs });
    await store.commit({ statements: [putChat(row)] });
    return main;
  }
  const sessionKey = sessionKeyOf(message);
  const before = await workstreams.findByKey(sessionKey, DAEMON);
  if (before) {
    const row = rowOf(message, { sessionKey, wsId: before.data.wsId, nowMs });
    await store.commit({ statements: [putChat(row)] });
    return before;
  }
  const owned = { ownerId: userId, visibility: 'private' as const };
  return workstreams.create(
    { owned, sessionKey, generatedName: `Telegram: ${message.chatTitle}` },
    ({ ws_id: wsId }) => [putChat(rowOf(message, { sessionKey, wsId, nowMs }))],
  );
}

const rowOf = (
  { chat, chatKind, chatTitle, senderId }: IncomingMessage,
  { sessionKey, wsId, nowMs }: { sessionKey: string; wsId: string; nowMs: number },
): ChatTable => ({
  channel: 'telegram',
  chat,
  kind: chatKind,
  session_key: sessionKey,
  ws_id: wsId,
  title: chatTitle,
  last_in_ms: null,
  last_out_ms: null,
  last_sender: senderId,
  owes_notice: 0,
  created_ms: nowMs,
});
