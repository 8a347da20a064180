/** What lists of workstreams show, and settings of workstreams of later releases of the interface. */
export const listed: readonly string[] = [
  'alter table workstreams add column tool_calls bigint not null default 0',
  'alter table workstreams add column always_tools_json text',
  'alter table workstreams add column judge_model text',
];

/** Schema version 34: unloaded sessions in the order in which lists show them. */
export const sessionOrder: readonly string[] = [
  'drop index workstreams_by_loaded',
  'create index workstreams_by_loaded on workstreams (loaded, updated_ms, visibility, owner_id)',
];

export interface PlacedColumns {
  /** The node id of the worker that has the workstream; null: the active daemon. */
  machine: string | null;
  /** The labels that its machine needs, in one text; null: none (decision 194). */
  machine_labels: string | null;
}

/** The first schema version with workers. */
export const WORKERS_FROM = 54;

/** Schema version 54: some workstreams are with workers (decision 188). */
export const placed: readonly string[] = [
  'alter table workstreams add column machine text',
  'create index workstreams_by_machine on workstreams (machine) where machine is not null',
];

/** Schema version 56: some workstreams need machines with particular labels (decision 194). */
export const labelled: readonly string[] = ['alter table workstreams add column machine_labels text'];
