import type { Authenticator } from '../auth/authenticator.ts';
import type { Channels } from '../channels/channels.ts';
import { readChatNow } from '../channels/inbox/chat-rows.ts';
import { readSender } from '../channels/inbox/sender-rows.ts';
import type { RunRequest } from '../runs/run-record.ts';
import { mayPerceive } from '../sharing/perception.ts';
import type { WatchTable } from '../store/schema/watches/watch-schema.ts';
import type { Store } from '../store/store.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import type { StoredWatch } from './watch-rows.ts';

export interface CreatorDeps {
  authenticator: Pick<Authenticator, 'endOf' | 'viewerOf'>;
  store: Pick<Store, 'db'>;
  channels: Pick<Channels, 'byName'>;
}

/** Whether whoever created the watch still has a say in the workstream. */
export async function mayStillWatch(
  { row, chat }: Pick<StoredWatch, 'row' | 'chat'>,
  { data }: Pick<Workstream, 'data'>,
  { authenticator, store, channels }: CreatorDeps,
): Promise<boolean> {
  const { created_by: by } = row;
  if (chat) return mayStillWrite(row, { chat, wsId: data.wsId }, { store, channels });
  return authenticator.endOf(by)?.aborted !== true && mayPerceive(authenticator.viewerOf(by), data);
}

type ChatPlace = NonNullable<RunRequest['deliver']>;

/**
 * People of chats have no credentials: they have a say in the workstream of their chat as long as they may write there. One
 * who was revoked and restored since needs a new approval.
 */
async function mayStillWrite(
  { created_by: principalId, created_ms: sinceMs }: Pick<WatchTable, 'created_by' | 'created_ms'>,
  { chat: { provider: channel, to }, wsId }: { chat: ChatPlace; wsId: string },
  { store, channels }: Pick<CreatorDeps, 'store' | 'channels'>,
): Promise<boolean> {
  const chat = await readChatNow(store, { channel, chat: to });
  if (chat?.ws_id !== wsId) return false;
  const senderId = principalId.slice(channel.length + 1);
  if ((await channels.byName(channel)?.trustIn?.(senderId, chat)) === undefined) return false;
  const sender = await readSender(store, { channel, senderId });
  return sender === undefined || sender.status === 'approved' || sender.updated_ms < sinceMs;
}
