import { isShown } from './history.ts';
import type { Messages, StoredMessage } from './messages.ts';

/** A page that is not empty while older messages can be shown: those of the environment are not. */
export async function shownPage(
  messages: Pick<Messages, 'page'>,
  wsId: string,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<StoredMessage[]> {
  let stored = await messages.page(wsId, { after, upTo, limit });
  while (!stored.some(isShown)) {
    const [first] = stored;
    const older = first ? await messages.page(wsId, { after, upTo: first.seq - 1, limit }) : [];
    if (older.length === 0) break;
    stored = [...older, ...stored];
  }
  return stored;
}
