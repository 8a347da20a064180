/** A person who may log in. Primary key user_id. */
export interface UserTable {
  user_id: string;
  /** As entered. */
  username: string;
  /** In lower case, unique: names that differ only in case are one name. */
  username_key: string;
  display_name: string;
  /** Argon2id in the PHC string format; null: the user has no password. */
  password_hash: string | null;
  /** 0 or 1. */
  disabled: number;
  /** Incremented whenever all logins of the user must end. */
  version: number;
  created_ms: number;
  updated_ms: number;
  last_login_ms: number | null;
}

/** A role that people defined. Primary key role_id; the name is unique. */
export interface RoleTable {
  role_id: string;
  name: string;
  display_name: string;
  /** Comma-separated. */
  permissions: string;
  created_ms: number;
  updated_ms: number;
}

/** Primary key (user_id, role_id). */
export interface RoleAssignmentTable {
  user_id: string;
  role_id: string;
  assigned_by: string;
  created_ms: number;
}

/** The one organisation. Primary key org_id. */
export interface OrgTable {
  org_id: string;
  name: string;
  display_name: string;
  /** JSON text of an object. */
  settings: string;
  created_ms: number;
  updated_ms: number;
}

/** What was done by whom. Rows are never changed. Primary key seq, from 1 without gaps. */
export interface AuditTable {
  seq: number;
  /** The record, as JSON text; its digest covers these very bytes. */
  body_json: string;
  /** SHA-256 in hex of the digest before, the number and the record. */
  digest: string;
  /** For filters: what the record says, too. */
  at_ms: number;
  action: string;
  user_id: string;
}

/** Schema version 26: users, their roles, the organisation, and the record of who did what. */
export const users: readonly string[] = [
  `create table users (
    user_id text not null primary key, username text not null, username_key text not null, display_name text not null,
    password_hash text, disabled integer not null, version bigint not null, created_ms bigint not null,
    updated_ms bigint not null, last_login_ms bigint
  )`,
  'create unique index users_by_name on users (username_key)',
  `create table roles (
    role_id text not null primary key, name text not null, display_name text not null, permissions text not null,
    created_ms bigint not null, updated_ms bigint not null
  )`,
  'create unique index roles_by_name on roles (name)',
  `create table role_assignments (
    user_id text not null, role_id text not null, assigned_by text not null, created_ms bigint not null,
    primary key (user_id, role_id)
  )`,
  `create table orgs (
    org_id text not null primary key, name text not null, display_name text not null, settings text not null,
    created_ms bigint not null, updated_ms bigint not null
  )`,
  `create table audit (
    seq bigint not null primary key, body_json text not null, digest text not null, at_ms bigint not null,
    action text not null, user_id text not null
  )`,
  'create index audit_by_time on audit (at_ms)',
  'create index audit_by_user on audit (user_id, seq)',
  'create index audit_by_action on audit (action, seq)',
  'alter table login_sessions add column authenticated_ms bigint',
  "alter table api_tokens add column token_prefix text not null default ''",
];

/** The outcome of a record; null if the record is damaged, because otherwise it could be neither indexed nor removed. */
export const OUTCOME_OF_AUDIT = "case when json_valid(body_json) then json_extract(body_json, '$.outcome') end";

/** Schema version 29: how a recorded call ended is found without reading each record. */
export const auditOutcomes: readonly string[] = [`create index audit_by_outcome on audit (${OUTCOME_OF_AUDIT}, seq)`];

/**
 * Schema version 33: owners of workstreams. What exists belongs to the operator, and everyone sees it. A name is free if
 * only workstreams have it that its new owner does not perceive.
 */
export const owners: readonly string[] = [
  "alter table workstreams add column owner_id text not null default ''",
  "alter table workstreams add column visibility text not null default 'shared'",
  ...['session_key', 'alias', 'update', 'loaded'].map((name) => `drop index workstreams_by_${name}`),
  'create unique index workstreams_by_session_key on workstreams (session_key, visibility, owner_id)',
  'create unique index workstreams_by_alias on workstreams (alias, visibility, owner_id)',
  'create index workstreams_by_update on workstreams (updated_ms, visibility, owner_id)',
  'create index workstreams_by_loaded on workstreams (loaded, visibility, owner_id)',
];
