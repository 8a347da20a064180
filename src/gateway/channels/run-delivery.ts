import { GatewayError } from '../../../protocol/errors.ts';
import type { RunRequest } from '../runs/run-record.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import type { Channels } from './channels.ts';
import { type AskedLast, readLast } from './delivery-rows.ts';
import { MOST_CHATS, readChat, readLastChat } from './inbox/chat-rows.ts';

/** Where a client wants the answer of a run to go. */
interface Asked {
  viewer: Viewer;
  deliver?: boolean | undefined;
  /** Absent or `last`: any channel. `webchat`: clients only. */
  channel?: string | undefined;
  /** Default: the chat from which people last wrote to the session, or where its last message on the channel went. */
  to?: string | undefined;
  /** Of the session, if it exists. */
  wsId: string | undefined;
  /** Of another session whose last chat is used if this one has none. */
  elseWsId?: string | undefined;
  /** Of a job: whose direct chats are used if these sessions have none. A user; empty: the operator. */
  ownerId?: string | undefined;
}

interface DeliveryParts {
  channels: Pick<Channels, 'resolve' | 'linked' | 'byName'>;
  store: Pick<Store, 'db'>;
}

type Place = NonNullable<RunRequest['deliver']>;

/** Whether a channel parameter asks for the last place that fits. */
const isLast = (channel: string | undefined): boolean => ['', 'last'].includes(nameOf(channel));

const nameOf = (channel: string | undefined): string => channel?.trim().toLowerCase() ?? '';

/** The destination of the answer, checked before the run is accepted; undefined when only clients get it. */
export async function resolveDelivery(
  { viewer, deliver, channel, to, wsId, elseWsId, ownerId }: Asked,
  parts: DeliveryParts,
): Promise<RunRequest['deliver']> {
  const name = nameOf(channel);
  if (!deliver || name === 'webchat') return undefined;
  const { channels } = parts;
  if (to?.trim()) {
    const found = await channels.resolve({ provider: isLast(channel) ? undefined : name, to, viewer });
    return { provider: found.channel.name, to: found.to };
  }
  const provider = isLast(channel) ? undefined : channels.linked(name).name;
  const chat = await lastChat([wsId, elseWsId], provider, parts);
  if (chat) return chat;
  const before = wsId === undefined ? undefined : await lastSent({ wsId, provider, viewer }, parts);
  const place = ownerId === undefined ? before : await ownChat({ ownerId, channel: provider, before }, parts);
  if (place) return place;
  const by = provider ?? 'a channel';
  throw new GatewayError(
    'INVALID_REQUEST',
    `deliver needs \`to\`: this session has neither received nor sent anything by ${by} yet`,
  );
}

/** Loaded with the chat services: without one, nobody has a chat. */
async function ownChat(
  asked: { ownerId: string; channel: string | undefined; before: Place | undefined },
  parts: DeliveryParts,
): Promise<Place | undefined> {
  const { personalChat } = await import('../loaded/loaded-services.ts');
  return personalChat(asked, parts);
}

/**
 * The chat from which people last wrote to the first of these sessions that has one, and in which whoever wrote last may still
 * write. Throws NOT_LINKED if its chat service is no longer set up.
 */
export async function lastChat(
  sessions: readonly (string | undefined)[],
  channel: string | undefined,
  { channels, store }: { channels: Pick<Channels, 'linked'>; store: Pick<Store, 'db'> },
): Promise<Place | undefined> {
  for (const wsId of sessions) {
    for (let skip = 0; wsId !== undefined && skip < MOST_CHATS; skip += 1) {
      const chat = await readLastChat(store, { wsId, channel, skip });
      if (!chat) break;
      const service = channels.linked(chat.channel);
      if (await service.trustIn?.(chat.last_sender, chat)) return { provider: service.name, to: chat.chat };
    }
  }
  return undefined;
}

/** Where a session's last message went; not to a chat in which whoever wrote last may write no more. */
export async function lastSent(
  asked: AskedLast,
  { channels, store }: { channels: Pick<Channels, 'byName'>; store: Pick<Store, 'db'> },
): Promise<Place | undefined> {
  const except: { provider: string; destination: string }[] = [];
  while (except.length < MOST_CHATS) {
    const last = await readLast(store, { ...asked, except });
    if (!last) return undefined;
    const { provider, destination: to } = last;
    const chat = await readChat(store, { channel: provider, chat: to });
    if (!chat || (await channels.byName(provider)?.trustIn?.(chat.last_sender, chat))) return { provider, to };
    except.push(last);
  }
  return undefined;
}
