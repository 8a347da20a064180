/** A sub-agent. Primary key agent_id. Its journal and approvals name it as their run. */
export interface SubAgentTable {
  agent_id: string;
  ws_id: string;
  run_id: string;
  /** The sub-agent that started it; empty: the agent of the conversation. */
  parent_id: string;
  /** The call that started it, unique among those of its parent in the run. */
  call_id: string;
  started_ms: number;
  /** 1 until it has ended. */
  is_running: number;
  /** What lists and events show of it. */
  state_json: string;
  /** What it is to do. */
  task_json: string;
  /** The beginning of its requests; null before the first. */
  prefix_json: string | null;
  /** What it no longer reads of its messages, in the order of the cuts. */
  cuts_json: string;
  /** How it ended; null: it has not. */
  end_json: string | null;
}

/** A message of a sub-agent's context. Primary key (agent_id, seq). */
export interface SubAgentMessageTable {
  agent_id: string;
  seq: number;
  body_json: string;
  created_ms: number;
}

/** Schema version 43: sub-agents, which have no rows among the workstreams. */
export const subAgents: readonly string[] = [
  `create table sub_agents (
    agent_id text not null primary key, ws_id text not null, run_id text not null, parent_id text not null,
    call_id text not null, started_ms bigint not null, is_running integer not null, state_json text not null,
    task_json text not null, prefix_json text, cuts_json text not null, end_json text,
    unique (run_id, parent_id, call_id)
  )`,
  `create index sub_agents_by_workstream on sub_agents (ws_id, started_ms)`,
  `create table sub_agent_messages (
    agent_id text not null, seq bigint not null, body_json text not null, created_ms bigint not null,
    primary key (agent_id, seq)
  ) without rowid`,
];
