import type { Generated } from 'kysely';

/** The tables of chat services that people write to Headgate from. A chat service calls people and chats by its own ids. */
export interface ChannelTables {
  channel_accounts: ChannelAccountTable;
  channel_inbox: InboxTable;
  channel_senders: SenderTable;
  channel_chats: ChatTable;
  channel_chunks: ChunkTable;
}

/** An account of Headgate at a chat service, such as a bot. Primary key (channel, account). */
export interface ChannelAccountTable {
  channel: string;
  account: string;
  /** The name by which others mention it. */
  username: string;
  /** The first update that is not stored yet; null: the service numbers none. */
  next_update: number | null;
  /** When the last update came. */
  updated_ms: number;
}

/** How a stored update ended; `waiting`: it has not. */
export type InboxState = 'waiting' | 'accepted' | 'answered' | 'blocked' | 'busy' | 'failed';

/** An update of a chat service. Unique by (channel, account, update_id): one that comes again is stored once. */
export interface InboxTable {
  /** The order in which they were stored. */
  position: Generated<number>;
  channel: string;
  account: string;
  /** As the service calls it. */
  update_id: string;
  /** The chat whose updates are handled in order; empty: the update belongs to no chat. */
  chat: string;
  /** Empty: nobody in particular. */
  sender_id: string;
  /** The update as it came; null when it has ended. */
  body_json: string | null;
  state: InboxState;
  /** Why it ended so. */
  reason: string | null;
  /** The run that it started. */
  run_id: string | null;
  received_ms: number;
  ended_ms: number | null;
}

/** A person who wrote to Headgate. Primary key (channel, sender_id). */
export interface SenderTable {
  channel: string;
  /** The number that the service gave, which never changes and never belongs to another person. */
  sender_id: string;
  /** `restored`: as if nobody had decided, but with what is known of the person. */
  status: 'pending' | 'approved' | 'revoked' | 'restored';
  /** As the person writes it: for people only, nothing is decided by it. */
  name: string;
  /** The user whose workstreams the chats of this person are; empty: the operator. */
  user_id: string;
  /** SHA-256 in hex of the pairing code; null: there is none. */
  code_hash: string | null;
  code_expires_ms: number | null;
  /** When the person was last told that approval is needed. */
  replied_ms: number | null;
  decided_by: string | null;
  created_ms: number;
  updated_ms: number;
}

/** A chat with its session. Primary key (channel, chat). */
export interface ChatTable {
  channel: string;
  /** The id of the chat; with a topic: `<chat>:<topic>`. */
  chat: string;
  kind: 'dm' | 'group';
  /** The session key that its workstream was made with. */
  session_key: string;
  ws_id: string;
  title: string;
  last_in_ms: number | null;
  last_out_ms: number | null;
  /** The person who wrote last. */
  last_sender: string;
  /** 1: something that was sent may not have arrived, and the chat has not been told. */
  owes_notice: number;
  created_ms: number;
}

/**
 * `sending`: a request was written and its answer is not stored; `ambiguous`: nobody knows whether it arrived;
 * `accepted`: the service gave its id.
 */
export type ChunkState = 'unsent' | 'sending' | 'accepted' | 'ambiguous' | 'failed';

/** `delivered`: it is on the device of the person. */
export type Receipt = 'sent' | 'delivered' | 'read' | 'failed';

/** A part of a message to a chat service, in the order of `chunk`. Primary key (message_id, chunk). */
export interface ChunkTable {
  /** The message of the outbox. */
  message_id: string;
  chunk: number;
  channel: string;
  /** As in the outbox. */
  destination: string;
  /** The text in the format of the service, and without format; null when it has ended. */
  formatted: string | null;
  plain: string | null;
  /** The file that is sent with the text, as its caption; null: none. */
  media_url: string | null;
  state: ChunkState;
  /** The id that the service gave it; only with `accepted`. */
  provider_id: string | null;
  /** What the service reported later. */
  receipt: Receipt | null;
  /** Why it failed, or is ambiguous. */
  reason: string | null;
  updated_ms: number;
}

/** Schema version 48: chat services. */
export const channels: readonly string[] = [
  `create table channel_accounts (
    channel text not null, account text not null, username text not null, next_update bigint,
    updated_ms bigint not null, primary key (channel, account)
  ) without rowid`,
  `create table channel_inbox (
    position integer primary key, channel text not null, account text not null, update_id text not null,
    chat text not null, sender_id text not null, body_json text, state text not null, reason text, run_id text,
    received_ms bigint not null, ended_ms bigint, unique (channel, account, update_id)
  )`,
  `create index channel_inbox_waiting on channel_inbox (channel, account, position) where state = 'waiting'`,
  `create index channel_inbox_by_time on channel_inbox (received_ms)`,
  `create table channel_senders (
    channel text not null, sender_id text not null, status text not null, name text not null, user_id text not null,
    code_hash text, code_expires_ms bigint, replied_ms bigint, decided_by text,
    created_ms bigint not null, updated_ms bigint not null, primary key (channel, sender_id)
  ) without rowid`,
  `create index channel_senders_by_code on channel_senders (code_hash)`,
  `create table channel_chats (
    channel text not null, chat text not null, kind text not null, session_key text not null, ws_id text not null,
    title text not null, last_in_ms bigint, last_out_ms bigint, last_sender text not null, owes_notice integer not null,
    created_ms bigint not null, primary key (channel, chat)
  ) without rowid`,
  `create index channel_chats_by_workstream on channel_chats (ws_id)`,
  `create table channel_chunks (
    message_id text not null, chunk integer not null, channel text not null, destination text not null, formatted text,
    plain text, state text not null, provider_id text, receipt text, reason text, updated_ms bigint not null, primary key (message_id, chunk)
  ) without rowid`,
  `create index channel_chunks_by_time on channel_chunks (updated_ms)`,
  `create index channel_chunks_by_provider on channel_chunks (channel, provider_id)`,
];

/** Schema version 49: files that are sent. */
export const sentFiles: readonly string[] = ['alter table channel_chunks add column media_url text'];
