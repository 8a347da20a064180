/** The tables of accounts at tool servers. Users are named by their ids; the operator's is empty. */
export interface ConsentTables {
  mcp_consents: ConsentTable;
  mcp_consent_requests: ConsentRequestTable;
  mcp_clients: ClientTable;
  mcp_pending_consents: PendingConsentTable;
}

/** The account of a user at a tool server. Primary key consent_id, which is `user/server`. */
export interface ConsentTable {
  consent_id: string;
  user_id: string;
  server: string;
  /** Separated by spaces. */
  scopes: string;
  /** The tokens, and to whom they may be sent. */
  sealed: string;
  /** Only ever grows; a change names the one that it replaces. */
  version: number;
  /** When the token expires; null: it is not known. */
  expires_ms: number | null;
  created_ms: number;
  updated_ms: number;
}

/** A user is at a provider now. Deleted with the first answer. Primary key state_hash. */
export interface ConsentRequestTable {
  /** SHA-256 in hex. */
  state_hash: string;
  user_id: string;
  server: string;
  /** SHA-256 in hex of what the browser keeps. */
  browser_hash: string;
  /** The verifier, the client, and what the server and its provider said of themselves. */
  sealed: string;
  created_ms: number;
  expires_ms: number;
}

/** The daemon as a client of the provider of a tool server. Primary key server. */
export interface ClientTable {
  server: string;
  sealed: string;
  created_ms: number;
}

/** A call needed a consent that a user has not given. Primary key (user_id, server). */
export interface PendingConsentTable {
  user_id: string;
  server: string;
  code: string;
  /** Separated by spaces. */
  scopes: string;
  created_ms: number;
}

/** Schema version 47: accounts of people at tool servers. */
export const consents: readonly string[] = [
  `create table mcp_consents (
    consent_id text not null primary key, user_id text not null, server text not null, scopes text not null,
    sealed text not null, version bigint not null, expires_ms bigint, created_ms bigint not null, updated_ms bigint not null
  )`,
  `create index mcp_consents_by_user on mcp_consents (user_id)`,
  `create index mcp_consents_by_server on mcp_consents (server)`,
  `create table mcp_consent_requests (
    state_hash text not null primary key, user_id text not null, server text not null, browser_hash text not null,
    sealed text not null, created_ms bigint not null, expires_ms bigint not null
  )`,
  `create table mcp_clients (server text not null primary key, sealed text not null, created_ms bigint not null)`,
  `create table mcp_pending_consents (
    user_id text not null, server text not null, code text not null, scopes text not null, created_ms bigint not null,
    primary key (user_id, server)
  )`,
];
