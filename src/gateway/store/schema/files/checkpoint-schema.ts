/** What a run changed on disk. Primary key (ws_id, n). */
export interface CheckpointTable {
  ws_id: string;
  /** Counts up in each workstream. */
  n: number;
  run_id: string;
  /** How many messages the conversation had when the run was about to change files. */
  at_seq: number;
  /** `open`: the run has not ended yet. */
  state: 'open' | 'done' | 'undone';
  /** A CheckpointBody. */
  body_json: string;
  began_ms: number;
}

/** A change of files that is decided, and perhaps not made completely yet. Primary key ws_id. */
export interface FileChangeTable {
  ws_id: string;
  change_id: string;
  /** A StoredChange. */
  body_json: string;
}

/** Schema version 40: snapshots of what runs change on disk. */
export const checkpoints: readonly string[] = [
  `create table checkpoints (
    ws_id text not null, n bigint not null, run_id text not null, at_seq bigint not null, state text not null,
    body_json text not null, began_ms bigint not null, primary key (ws_id, n)
  )`,
  `create table file_changes (ws_id text not null primary key, change_id text not null, body_json text not null)`,
];
