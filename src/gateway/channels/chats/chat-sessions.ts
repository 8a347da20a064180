import type { Clock } from '../../../clock.ts';
import { DAEMON } from '../../sharing/perception.ts';
import type { ChatTable } from '../../store/schema/channels/channel-schema.ts';
import type { Store } from '../../store/store.ts';
import { MAIN } from '../../workstreams/session-keys.ts';
import type { Workstream } from '../../workstreams/workstream.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';
import { putChat, readChat } from '../inbox/chat-rows.ts';
import type { ChatMessage } from './chat-message.ts';
import type { ChatService } from './chat-service.ts';
import type { ChatSettings } from './chat-settings.ts';

interface ChatSessionDeps {
  service: ChatService;
  store: Pick<Store, 'db' | 'commit'>;
  workstreams: Pick<Workstreams, 'findByKey' | 'create' | 'obtainByKey'>;
  clock: Pick<Clock, 'now'>;
}

/**
 * The workstream of a chat. The first message makes it: private, of the user whom the sender is linked to, or of the
 * operator. It is stored together with the chat. A closed one is opened again; a deleted one is replaced.
 */
export async function obtainSession(
  message: ChatMessage,
  { userId, session }: { userId: string; session: ChatSettings['session'] },
  deps: ChatSessionDeps,
): Promise<Workstream> {
  const { service, store, workstreams } = deps;
  const known = await readChat(store, { channel: service.channel, chat: message.chat });
  const isMain = message.chatKind === 'dm' && session === 'main';
  const isAsSet = known !== undefined && (known.session_key === MAIN) === isMain;
  const found = isAsSet ? await workstreams.findByKey(known.ws_id, DAEMON) : undefined;
  if (found) return found;
  const nowMs = deps.clock.now();
  if (isMain) {
    const main = await workstreams.obtainByKey(MAIN, DAEMON);
    const row = rowOf(service, message, { sessionKey: MAIN, wsId: main.data.wsId, nowMs });
    await store.commit({ statements: [putChat(row)] });
    return main;
  }
  // A group keeps the key with its first number, which the settings know.
  const sessionKey = isAsSet ? known.session_key : message.sessionKey;
  const before = await workstreams.findByKey(sessionKey, DAEMON);
  if (before) {
    const row = rowOf(service, message, { sessionKey, wsId: before.data.wsId, nowMs });
    await store.commit({ statements: [putChat(row)] });
    return before;
  }
  const owned = { ownerId: userId, visibility: 'private' as const };
  return workstreams.create(
    { owned, sessionKey, generatedName: `${service.label}: ${message.chatTitle}` },
    ({ ws_id: wsId }) => [putChat(rowOf(service, message, { sessionKey, wsId, nowMs }))],
  );
}

const rowOf = (
  { channel }: ChatService,
  { chat, chatKind, chatTitle, senderId }: ChatMessage,
  { sessionKey, wsId, nowMs }: { sessionKey: string; wsId: string; nowMs: number },
): ChatTable => ({
  channel,
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
