import type { WatchTable } from '../watches/watch-schema.ts';

/** The tables of what goes on between runs. */
export interface BackgroundTables {
  background_commands: BackgroundCommandTable;
  watches: WatchTable;
}

/** A command in the background. Primary key command_id. */
export interface BackgroundCommandTable {
  command_id: string;
  ws_id: string;
  started_ms: number;
  /** 1 while it runs. */
  is_running: number;
  /** 1 when the model knows how it has ended, or will never ask. */
  is_told: number;
  /** What lists and events show of it. */
  state_json: string;
  /** The identity of its process. */
  process_json: string;
  /** What its output brings into the conversation that nobody trusts; null: nothing. */
  taint_json: string | null;
  /** The file of its output, in the folder of outputs; null: there is none. */
  output_name: string | null;
}

/** Schema version 40: commands in the background. */
export const backgroundCommands: readonly string[] = [
  `create table background_commands (
    command_id text not null primary key, ws_id text not null, started_ms bigint not null, is_running integer not null,
    is_told integer not null, state_json text not null, process_json text not null, taint_json text, output_name text
  )`,
  `create index background_commands_by_workstream on background_commands (ws_id, started_ms)`,
  `create index background_commands_open on background_commands (is_running, is_told) where is_running = 1 or is_told = 0`,
];
