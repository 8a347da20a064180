import type { WorkstreamKind } from '../../../../../protocol/methods/conversation/kinds.ts';

/** What is stored of a coordinator besides its row among the workstreams; no row: nothing yet. Primary key ws_id. */
export interface CoordinatorTable {
  ws_id: string;
  /** The principal that lets messages to its children go without asking; null: each one asks. */
  trust_by: string | null;
  /** Null: without end, or nobody does. */
  trust_until_ms: number | null;
  /** The names of tools that neither it nor its children may use, as JSON. */
  revoked_json: string;
  /** Its list of tasks, as JSON. */
  tasks_json: string;
  updated_ms: number;
}

/** The columns of a workstream that tell who works for whom. */
export interface TreeColumns {
  kind: WorkstreamKind;
  /** The coordinator that it works for; null: none, or it was deleted. */
  parent_ws_id: string | null;
  /** The call that made it, unique among the children of a coordinator; null: a person made it. */
  spawn_key: string | null;
}

/** The tables of coordinators. */
export interface CoordinatorTables {
  coordinators: CoordinatorTable;
}

/** Schema version 45: coordinators, and which workstream made another one. */
export const coordinators: readonly string[] = [
  `create table coordinators (
    ws_id text not null primary key, trust_by text, trust_until_ms bigint, revoked_json text not null,
    tasks_json text not null, updated_ms bigint not null
  )`,
  "alter table workstreams add column kind text not null default 'interactive'",
  'alter table workstreams add column parent_ws_id text',
  'alter table workstreams add column spawn_key text',
  'create index workstreams_by_parent on workstreams (parent_ws_id, created_ms)',
  'create unique index workstreams_by_spawn on workstreams (parent_ws_id, spawn_key)',
];
