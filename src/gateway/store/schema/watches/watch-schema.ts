/** A command that is polled for a workstream. Primary key watch_id. */
export interface WatchTable {
  watch_id: string;
  ws_id: string;
  /** The daemon that polls it; follows the workstream while the watch is active. */
  node_id: string;
  name: string;
  command: string;
  interval_secs: number;
  /** Null: it fires when the output changes. */
  stop_on: string | null;
  max_polls: number;
  /** Polls that were claimed. Only ever grows, before the command starts. */
  poll_count: number;
  missed_polls: number;
  /** 1 from the claim of a poll to its end. */
  is_polling: number;
  /** The identity of the process of the poll that runs. */
  process_json: string | null;
  last_output: string | null;
  last_exit_code: number | null;
  last_poll_ms: number | null;
  /** Null: it is not active. */
  next_poll_ms: number | null;
  active: number;
  end_kind: string | null;
  end_reason: string | null;
  created_ms: number;
  updated_ms: number;
  /** The principal in whose run it was created, with its rights, and the user if it acted for one. */
  created_by: string;
  rights: string;
  sender: string | null;
  /** The chat of whose run it was created, as `deliver` of a run; null: another run. */
  chat_json: string | null;
  /** What a person or the judge allowed with the call that created it; null: nothing in particular. */
  allowed_json: string | null;
  /** The message for the conversation that is not yet accepted. */
  result_json: string | null;
}

/** Schema version 42: watches. */
export const watches: readonly string[] = [
  `create table watches (
    watch_id text not null primary key, ws_id text not null, node_id text not null, name text not null, command text not null,
    interval_secs integer not null, stop_on text, max_polls integer not null, poll_count integer not null,
    missed_polls integer not null, is_polling integer not null, process_json text, last_output text, last_exit_code integer,
    last_poll_ms bigint, next_poll_ms bigint, active integer not null, end_kind text, end_reason text,
    created_ms bigint not null, updated_ms bigint not null, created_by text not null, rights text not null, sender text,
    allowed_json text, result_json text
  )`,
  `create index watches_by_workstream on watches (ws_id, created_ms)`,
  `create index watches_open on watches (active, is_polling)
    where active = 1 or is_polling = 1 or result_json is not null`,
];

/** Schema version 50: watches of chats. */
export const watchesOfChats: readonly string[] = ['alter table watches add column chat_json text'];
