/**
 * Schema version 1. Tables that are read in key order and never by row id are stored by key (`without rowid`); a
 * PostgreSQL store would omit these two words and run the rest unchanged. No index is partial, because the planner
 * proves `status in (…)` only from literals, and queries bind their values.
 */
export const tables: readonly string[] = [
  `create table meta (key text not null primary key, value text not null) without rowid`,

  `create table workstreams (
    ws_id text not null primary key, session_key text, alias text, generated_name text not null, title text,
    model_alias text, auto_approve integer not null, thinking_level text, verbose_level text, workdir text not null,
    loaded integer not null, context_after_seq bigint not null, message_count bigint not null, usage_json text,
    run_epoch bigint not null, aborted_last_run integer not null, created_ms bigint not null, updated_ms bigint not null
  )`,
  `create index workstreams_by_update on workstreams (updated_ms)`,
  `create unique index workstreams_by_session_key on workstreams (session_key)`,
  `create unique index workstreams_by_alias on workstreams (alias)`,
  `create index workstreams_by_loaded on workstreams (loaded)`,

  `create table messages (
    ws_id text not null, seq bigint not null, run_id text, body_json text not null, created_ms bigint not null,
    primary key (ws_id, seq)
  ) without rowid`,

  `create table events (
    ws_id text not null, "offset" bigint not null, body_json text not null, created_ms bigint not null,
    primary key (ws_id, "offset")
  ) without rowid`,

  `create table runs (
    run_id text not null primary key, ws_id text not null, principal text not null, run_key text, source text not null,
    status text not null, request_json text not null, epoch bigint not null, error text, summary text,
    accepted_ms bigint not null, started_ms bigint, ended_ms bigint
  )`,
  `create unique index runs_by_key on runs (principal, ws_id, run_key)`,
  `create index runs_by_status on runs (status, ws_id)`,
  `create index runs_by_workstream on runs (ws_id, accepted_ms)`,

  `create table journal (
    run_id text not null, seq bigint not null, ws_id text not null, kind text not null, body_json text not null,
    at_ms bigint not null, primary key (run_id, seq)
  ) without rowid`,

  `create table approvals (
    approval_id text not null primary key, ws_id text not null, run_id text not null, kind text not null,
    status text not null, items_json text not null, digests_json text not null, feedback text, always integer not null,
    decided_by text, asked_ms bigint not null, expires_ms bigint not null, decided_ms bigint
  )`,
  `create index approvals_by_status on approvals (status, ws_id)`,
  `create index approvals_by_run on approvals (run_id)`,

  `create table idempotency (
    principal text not null, method text not null, key text not null, digest text not null, kind text not null,
    body_json text not null, created_ms bigint not null, expires_ms bigint not null, primary key (principal, method, key)
  )`,
  `create index idempotency_by_expiry on idempotency (expires_ms)`,

  `create table login_codes (
    code_hash text not null primary key, principal text not null, expires_ms bigint not null, used_ms bigint
  )`,

  `create table login_sessions (
    jti text not null primary key, principal text not null, scopes text not null, created_ms bigint not null,
    expires_ms bigint not null, revoked_ms bigint
  )`,
  `create index login_sessions_by_expiry on login_sessions (expires_ms)`,
];

/**
 * Schema version 2: how the last run ended and not only whether it was cancelled, so that a failure is shown after a
 * restart.
 */
export const keepLastRunStatus: readonly string[] = [
  `alter table workstreams add column last_run_status text`,
  `update workstreams set last_run_status = (
    select status from runs where runs.ws_id = workstreams.ws_id and ended_ms is not null order by ended_ms desc limit 1
  )`,
  `alter table workstreams drop column aborted_last_run`,
];

/** Schema version 3. */
export const apiTokens: readonly string[] = [
  `create table api_tokens (
    token_id text not null primary key, name text not null, scope text not null, token_hash text not null,
    created_by text not null, created_ms bigint not null, expires_ms bigint, used_ms bigint, revoked_ms bigint
  )`,
  `create unique index api_tokens_by_hash on api_tokens (token_hash)`,
];

/** Schema version 4. */
export const outbox: readonly string[] = [
  `create table outbox (
    message_id text not null primary key, seq bigint not null, provider text not null, destination text not null,
    ws_id text, sender text not null, message text not null, media_url text, status text not null,
    attempts integer not null, next_ms bigint not null, error text, accepted_ms bigint not null, ended_ms bigint
  )`,
  `create unique index outbox_by_seq on outbox (seq)`,
  `create index outbox_by_status on outbox (status, provider, destination, seq)`,
  `create index outbox_by_workstream on outbox (ws_id, seq)`,
  `create index outbox_by_end on outbox (ended_ms)`,
];

/** Schema version 5: paired nodes and their invocations. */
export const nodes: readonly string[] = [
  `create table nodes (
    node_id text not null primary key, display_name text, about_json text not null, commands_json text not null,
    token_hash text not null, approved_by text not null, created_ms bigint not null, approved_ms bigint not null
  )`,
  `create table invocations (
    invoke_id text not null primary key, node_id text not null, command text not null, params_json text,
    invoke_key text not null, tool_call text, timeout_ms bigint not null, status text not null, outcome_json text,
    deadline_ms bigint not null, finished_ms bigint
  )`,
  `create unique index invocations_by_tool_call on invocations (tool_call)`,
  `create index invocations_by_deadline on invocations (deadline_ms)`,
];

/** Schema version 6: notes between the messages, kept as long as the messages. */
export const notes: readonly string[] = [
  `create table notes (
    ws_id text not null, after_seq bigint not null, "offset" bigint not null, body_json text not null,
    created_ms bigint not null, primary key (ws_id, after_seq, "offset")
  ) without rowid`,
];

/** Schema version 7: files of messages. Their bytes are in the home, or in tables that only PostgreSQL has, under the attachment's id. */
export const attachments: readonly string[] = [
  `create table attachments (
    ws_id text not null, attachment_id text not null, principal text not null, filename text not null,
    mime_type text not null, size_bytes bigint not null, kind text not null, status text not null, run_id text,
    created_ms bigint not null, primary key (ws_id, attachment_id)
  ) without rowid`,
  `create index attachments_by_id on attachments (attachment_id)`,
  `create index attachments_by_run on attachments (run_id)`,
  `create index attachments_by_status on attachments (status, created_ms)`,
];

/**
 * Schema version 8: scheduled jobs, the ledger of their occurrences, and one row per attempt. The keys guarantee one
 * row per instant, one open occurrence per job, and one start per attempt.
 */
export const cron: readonly string[] = [
  `create table cron_jobs (
    job_id text not null primary key, definition_json text not null, revision integer not null, enabled integer not null,
    created_ms bigint not null, updated_ms bigint not null, since_ms bigint not null, next_ms bigint, handled_ms bigint,
    failures integer not null, hold_ms bigint, last_json text
  )`,
  `create table cron_occurrences (
    job_id text not null, scheduled_ms bigint not null, through_ms bigint not null, count integer, "trigger" text not null,
    status text not null, owner text, epoch integer not null, lease_ms bigint, attempts integer not null, retry_ms bigint,
    run_id text, session_key text, started_ms bigint, ended_ms bigint, error text, summary text,
    primary key (job_id, scheduled_ms)
  )`,
  `create unique index cron_occurrences_open on cron_occurrences (job_id) where ended_ms is null`,
  `create index cron_occurrences_by_end on cron_occurrences (ended_ms)`,
  `create table cron_attempts (
    job_id text not null, scheduled_ms bigint not null, attempt integer not null, epoch integer not null,
    owner text not null, started_ms bigint not null, run_id text, primary key (job_id, scheduled_ms, attempt)
  )`,
];

/** When the job was to run next after an occurrence ended. */
export const nextRunOfOccurrence: readonly string[] = ['alter table cron_occurrences add column next_run_ms bigint'];

/** Schema version 10: when a node was last connected. */
export const nodesSeen: readonly string[] = [
  'alter table nodes add column seen_ms bigint',
  'alter table nodes add column is_connected integer not null default 0',
];

/** Schema version 11: data of an occurrence that must survive its process, its job and changes of the clock. */
export const lastingOccurrence: readonly string[] = [
  'alter table cron_occurrences add column spent_ms bigint not null default 0',
  'alter table cron_occurrences add column duration_ms bigint',
  'alter table cron_occurrences add column removed_job_json text',
  `update cron_occurrences set duration_ms = max(0, ended_ms - started_ms)
    where started_ms is not null and ended_ms is not null`,
];

/**
 * The parents of credentials. Earlier tokens and links become children of the operator token, whose holder could revoke
 * them. Logins already know the token that they were created with.
 */
export const lineage: readonly string[] = [
  ...['api_tokens', 'login_sessions', 'login_codes'].flatMap((table) => [
    `alter table ${table} add column parent_kind text not null default 'operator'`,
    `alter table ${table} add column parent_id text not null default 'operator'`,
  ]),
  `update login_sessions set parent_kind = 'token', parent_id = substr(principal, 7) where principal like 'token:%'`,
  `alter table login_codes add column scopes text not null default 'read,write,approve'`,
  'alter table login_sessions drop column principal',
  'alter table login_codes drop column principal',
];

/** Schema version 13: checksums, to detect altered rows. Version 14 fills the columns. */
export const checksums: readonly string[] = [
  'alter table events add column checksum bigint',
  'alter table messages add column checksum bigint',
  `create table log_heads (
    ws_id text not null primary key, "first" bigint not null, "last" bigint not null
  ) without rowid`,
  'insert into log_heads select ws_id, min("offset"), max("offset") from events group by ws_id',
];

/** Schema version 15: who enabled auto-approve, and when it ends. Earlier permissions had neither, so they end here. */
export const alwaysEnds: readonly string[] = [
  `alter table workstreams add column always_by text`,
  `alter table workstreams add column always_until_ms bigint`,
  `alter table workstreams drop column auto_approve`,
];

/**
 * Schema version 16: which folder a workstream's path led to, its readable folders, and the folders that approvers have
 * named.
 */
export const workdirs: readonly string[] = [
  'alter table workstreams add column workdir_ino text',
  "alter table workstreams add column readable_json text not null default '[]'",
  'create table workdirs (path text not null primary key, principal text not null, named_ms bigint not null)',
];

/** Schema version 19: ranges of messages that no longer count. */
export const cuts: readonly string[] = [
  `create table cuts (
    ws_id text not null, n bigint not null, kind text not null, after_seq bigint not null, to_seq bigint not null,
    at_seq bigint not null, body_json text, created_ms bigint not null, checksum bigint not null,
    primary key (ws_id, n)
  ) without rowid`,
  'alter table workstreams add column cut_count bigint not null default 0',
];

/** Schema version 18: who made the journaled decisions of runs that continue after an update. */
export const journaledDeciders: readonly string[] = [
  `update journal set body_json = json_set(body_json, '$.decision.by', case
      when json_extract(body_json, '$.decision.by') in ('timeout', 'cancel', 'policy')
        then json_object('kind', json_extract(body_json, '$.decision.by'))
      else json_object('kind', 'principal', 'id', json_extract(body_json, '$.decision.by'))
    end)
    where kind = 'approval_decided'
      and case when json_valid(body_json) then json_type(body_json, '$.decision.by') end = 'text'`,
];

/** Schema version 20: tokens and money by run, model and day. Rows stay when their workstream is deleted. */
export const usage: readonly string[] = [
  `create table usage (
    run_id text not null, model text not null, day text not null, ws_id text not null, principal text not null,
    turns bigint not null, input bigint not null, cache_read bigint not null, cache_write bigint not null,
    output bigint not null, reasoning bigint not null, micro_cost bigint not null, unpriced bigint not null,
    primary key (run_id, model, day)
  )`,
  'create index usage_by_day on usage (day)',
  'create index usage_by_workstream on usage (ws_id, day)',
];

/** Schema version 21: the system prompt and the tools that a conversation began with, and whose instructions it trusts. */
export const prefixes: readonly string[] = [
  `create table prefixes (
    ws_id text not null primary key, version text not null, after_seq bigint not null, family text not null,
    system text not null, tools_json text not null, told_json text not null
  )`,
  `create table instruction_trust (
    ws_id text not null, folder text not null, trusted bigint not null, decided_ms bigint not null,
    primary key (ws_id, folder)
  )`,
];

/** Schema version 23: logs are compacted. Older builds would show a packed row as an event. */
export const compaction: readonly string[] = ['alter table log_heads add column compacted bigint not null default 0'];

/**
 * Schema version 24 (decision 55): messages are stored in the order in which they came, because long rows that are stored
 * by key leave half of their pages unused. Ended runs no longer repeat their messages, nor journals the workstream.
 */
export const lessSpace: readonly string[] = [
  `create table messages_in_order (
    ws_id text not null, seq bigint not null, run_id text, body_json text not null, created_ms bigint not null,
    checksum bigint, primary key (ws_id, seq)
  )`,
  `insert into messages_in_order select ws_id, seq, run_id, body_json, created_ms, checksum from messages
    order by ws_id, seq`,
  'drop table messages',
  'alter table messages_in_order rename to messages',
  "update runs set summary = null where status = 'ok'",
  `update runs set request_json = json_set(request_json, '$.message', '')
    where ended_ms is not null and started_ms is not null and json_valid(request_json)`,
  'alter table journal drop column ws_id',
];

/** Schema version 25: rows of a log are compressed. Older builds would show a block as damage. */
export const blocks: readonly string[] = ['alter table log_heads add column blocked bigint not null default 0'];

/** Finds a run by its key in whatever workstream, without reading all runs of its caller. */
export const keysOfRuns = [`create index runs_by_own_key on runs (run_key, principal) where run_key is not null`];
