import { sql } from 'kysely';
import type { ChatTable } from '../../store/schema/channels/channel-schema.ts';
import { build, statementOf } from '../../store/statements.ts';
import type { Statement, Store } from '../../store/store.ts';

export interface ChatName {
  channel: string;
  chat: string;
}

export const readChat = ({ db }: Pick<Store, 'db'>, { channel, chat }: ChatName): Promise<ChatTable | undefined> =>
  db.selectFrom('channel_chats').selectAll().where('channel', '=', channel).where('chat', '=', chat).executeTakeFirst();

/** The chat of this name, or what has become of it: a group keeps the session key with its first number. */
export async function readChatNow(store: Pick<Store, 'db'>, name: ChatName): Promise<ChatTable | undefined> {
  const known = await readChat(store, name);
  if (known) return known;
  const [group, topic] = name.chat.split(':');
  const key = `${name.channel}:group:${group}${topic === undefined ? '' : `:topic:${topic}`}`;
  const all = store.db.selectFrom('channel_chats').selectAll();
  return all.where('channel', '=', name.channel).where('session_key', '=', key).executeTakeFirst();
}

/** Whether a chat is that of a person who was revoked since, or who has not been approved again. */
const isOfRevoked = sql<boolean>`(channel_chats.kind = 'dm' and exists (
  select 1 from channel_senders
  where channel_senders.channel = channel_chats.channel and sender_id = last_sender
    and (status = 'revoked' or status <> 'approved' and updated_ms >= last_in_ms)))`;

/**
 * Whether the conversation of a direct chat was given to somebody else, who is private in it: what is said there since is
 * not for the person whose chat it was.
 */
export const isGivenAway = sql<boolean>`(channel_chats.kind = 'dm' and exists (
  select 1 from workstreams
  where workstreams.ws_id = channel_chats.ws_id and workstreams.visibility = 'private'
    and workstreams.owner_id <> coalesce((
      select user_id from channel_senders
      where channel_senders.channel = channel_chats.channel and sender_id = last_sender), '')))`;

/** Whether nothing is sent to a chat unless somebody names it. */
export const isOnlyNamed = sql<boolean>`(${isOfRevoked} or ${isGivenAway})`;

/** The chat from which people last wrote to a workstream, unless its person was revoked, or has it no more. */
export const readLastChat = (
  { db }: Pick<Store, 'db'>,
  // `skip`: how many later chats are passed over.
  { wsId, channel, skip }: { wsId: string; channel?: string | undefined; skip: number },
): Promise<Pick<ChatTable, 'channel' | 'chat' | 'kind' | 'last_sender'> | undefined> =>
  db
    .selectFrom('channel_chats')
    .select(['channel', 'chat', 'kind', 'last_sender'])
    .where('ws_id', '=', wsId)
    .where('last_in_ms', 'is not', null)
    .where(sql<boolean>`not ${isOnlyNamed}`)
    .$if(channel !== undefined, (query) => query.where('channel', '=', channel ?? ''))
    .orderBy('last_in_ms', 'desc')
    .orderBy('chat')
    .limit(1)
    .offset(skip)
    .executeTakeFirst();

/** How many chats are looked at for one of a person who may write now. */
export const MOST_CHATS = 100;

/** The direct chats of an owner, the one in which somebody last wrote first. Not of people who have given it away. */
export const readDirectChats = (
  { db }: Pick<Store, 'db'>,
  { ownerId, channel }: { ownerId: string; channel: string | undefined },
): Promise<Pick<ChatTable, 'channel' | 'chat' | 'last_sender'>[]> =>
  db
    .selectFrom('channel_chats')
    .innerJoin('workstreams', 'workstreams.ws_id', 'channel_chats.ws_id')
    .leftJoin('channel_senders', (sender) =>
      sender
        .onRef('channel_senders.channel', '=', 'channel_chats.channel')
        .onRef('channel_senders.sender_id', '=', 'channel_chats.last_sender'),
    )
    .select(['channel_chats.channel', 'channel_chats.chat', 'channel_chats.last_sender'])
    .where('channel_chats.kind', '=', 'dm')
    .where('channel_chats.last_in_ms', 'is not', null)
    .where('workstreams.owner_id', '=', ownerId)
    .where(sql<boolean>`coalesce(channel_senders.user_id, '') = ${ownerId}`)
    .$if(channel !== undefined, (query) => query.where('channel_chats.channel', '=', channel ?? ''))
    .orderBy('channel_chats.last_in_ms', 'desc')
    .limit(MOST_CHATS)
    .execute();

/** The private workstream of a person's direct chat, if it belongs to another user than this one. Empty: the operator. */
export const readChatOfOther = async (
  { db }: Pick<Store, 'db'>,
  { channel, senderId, userId }: { channel: string; senderId: string; userId: string },
): Promise<string | undefined> => {
  const found = await db
    .selectFrom('channel_chats')
    .innerJoin('workstreams', 'workstreams.ws_id', 'channel_chats.ws_id')
    .select('workstreams.ws_id')
    .where('channel_chats.channel', '=', channel)
    .where('channel_chats.kind', '=', 'dm')
    .where('channel_chats.last_sender', '=', senderId)
    .where('workstreams.visibility', '=', 'private')
    .where('workstreams.owner_id', '<>', userId)
    .executeTakeFirst();
  return found?.ws_id;
};

/** A chat with its session; a chat whose workstream was deleted gets another one. */
export const putChat = (row: ChatTable): Statement => ({
  sql: `INSERT INTO channel_chats (channel, chat, kind, session_key, ws_id, title, last_in_ms, last_out_ms, last_sender,
          owes_notice, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (channel, chat) DO UPDATE SET ws_id = excluded.ws_id, session_key = excluded.session_key`,
  parameters: [
    ...[row.channel, row.chat, row.kind, row.session_key, row.ws_id, row.title, row.last_in_ms, row.last_out_ms],
    ...[row.last_sender, row.owes_notice, row.created_ms],
  ],
  expect: 1,
});

/** Somebody wrote in it. */
export const noteWritten = ({ channel, chat }: ChatName, by: { senderId: string; nowMs: number }): Statement =>
  statementOf(
    build
      .updateTable('channel_chats')
      .set({ last_in_ms: by.nowMs, last_sender: by.senderId })
      .where('channel', '=', channel)
      .where('chat', '=', chat),
  );

/** Something was sent to it; `owes`: perhaps in vain, or the chat has been told so. */
export const noteSent = ({ channel, chat }: ChatName, { owes, nowMs }: { owes?: 0 | 1; nowMs: number }): Statement =>
  statementOf(
    build
      .updateTable('channel_chats')
      .set({ last_out_ms: nowMs, ...(owes !== undefined && { owes_notice: owes }) })
      .where('channel', '=', channel)
      .where('chat', '=', chat),
  );

/** The number that a group had when its first session was made; undefined for an unknown group. */
export async function readFirstNumber(
  { db }: Pick<Store, 'db'>,
  { channel, group }: { channel: string; group: string },
): Promise<string | undefined> {
  const found = await db
    .selectFrom('channel_chats')
    .select('session_key')
    .where('channel', '=', channel)
    .where('kind', '=', 'group')
    .where((chat) => chat.or([chat('chat', '=', group), chat('chat', 'like', `${group}:%`)]))
    .orderBy('created_ms') // sessions of later topics have a later number
    .limit(1)
    .executeTakeFirst();
  return /^[^:]+:group:([^:]+)/.exec(found?.session_key ?? '')?.[1];
}

/** A group has another id from now on, with the same sessions. Topics move with it. */
export function renameChats(channel: string, { from, to }: { from: string; to: string }): Statement[] {
  const isOf = `(chat = ?2 OR chat LIKE ?2 || ':%')`;
  return [
    {
      sql: `DELETE FROM channel_chats WHERE channel = ?1 AND (chat = ?3 OR chat LIKE ?3 || ':%')
              AND EXISTS (SELECT 1 FROM channel_chats WHERE channel = ?1 AND ${isOf})`,
      parameters: [channel, from, to],
    },
    {
      sql: `UPDATE channel_chats SET chat = ?3 || substr(chat, length(?2) + 1) WHERE channel = ?1 AND ${isOf}`,
      parameters: [channel, from, to],
    },
    {
      sql: `UPDATE outbox SET destination = ?3 || substr(destination, length(?2) + 1)
            WHERE provider = ?1 AND status = 'pending' AND (destination = ?2 OR destination LIKE ?2 || ':%')`,
      parameters: [channel, from, to],
    },
  ];
}
