import type { RunRequest } from '../runs/run-record.ts';
import type { Store } from '../store/store.ts';
import type { Channels } from './channels.ts';
import { readChat, readDirectChats } from './inbox/chat-rows.ts';

type Place = NonNullable<RunRequest['deliver']>;

interface Asked {
  /** A user; empty: the operator. */
  ownerId: string;
  /** Undefined: any. */
  channel: string | undefined;
  /** Where the last answer went. */
  before: Place | undefined;
}

/**
 * Where the answer of a job goes if nobody wrote to its sessions: the direct chat from which its owner's people last wrote. An
 * approver comes before others. Only people who may write now count. A place that is no direct chat, such as a group that
 * somebody had named, is kept.
 */
export async function personalChat(
  { ownerId, channel, before }: Asked,
  { channels, store }: { channels: Pick<Channels, 'byName'>; store: Pick<Store, 'db'> },
): Promise<Place | undefined> {
  const trustIn = ({ provider, to }: Place, senderId: string) =>
    channels.byName(provider)?.trustIn?.(senderId, { chat: to, kind: 'dm' });
  const known = before && (await readChat(store, { channel: before.provider, chat: before.to }));
  if (before && known?.kind !== 'dm') return before;
  let allowed: Place | undefined;
  for (const { channel: provider, chat: to, last_sender } of await readDirectChats(store, { ownerId, channel })) {
    const trust = await trustIn({ provider, to }, last_sender);
    if (trust === 'approver') return { provider, to };
    if (trust === 'allowed') allowed ??= { provider, to };
  }
  if (allowed || !before || !known) return allowed;
  return (await trustIn(before, known.last_sender)) && before;
}
