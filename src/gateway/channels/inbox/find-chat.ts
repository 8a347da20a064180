import { mayPerceive, seesEverything, type Viewer } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';
import { type ChatName, readChatNow } from './chat-rows.ts';

/** A chat that has written before. Those of private workstreams exist for people who perceive them. */
export async function findChat(name: ChatName, viewer: Viewer, store: Pick<Store, 'db'>): Promise<string | undefined> {
  const known = await readChatNow(store, name);
  if (!known || seesEverything(viewer)) return known?.chat;
  const owned = await store.db
    .selectFrom('workstreams')
    .select(['owner_id', 'visibility'])
    .where('ws_id', '=', known.ws_id)
    .executeTakeFirst();
  return owned && mayPerceive(viewer, { ownerId: owned.owner_id, visibility: owned.visibility })
    ? known.chat
    : undefined;
}
