import type { TokenScope } from '../../../../protocol/methods/accounts/token.ts';
import type { LineageColumns } from '../../auth/parent.ts';

export interface LoginCodeTable extends LineageColumns {
  /** SHA-256 hex of the code. */
  code_hash: string;
  /** Comma-separated; the maximum scopes of a session created with this code. */
  scopes: string;
  expires_ms: number;
  used_ms: number | null;
}

export interface LoginSessionTable extends LineageColumns {
  jti: string;
  scopes: string;
  created_ms: number;
  expires_ms: number;
  revoked_ms: number | null;
  /** When the person proved who they are, which a refreshed session keeps; null in rows of earlier versions: at the start. */
  authenticated_ms: number | null;
}

export interface ApiTokenTable extends LineageColumns {
  token_id: string;
  name: string;
  scope: TokenScope;
  /** SHA-256 in hex; the token itself is not stored. */
  token_hash: string;
  /** The beginning of the token; empty in rows of earlier versions. */
  token_prefix: string;
  /** The principal that created it. */
  created_by: string;
  created_ms: number;
  expires_ms: number | null;
  used_ms: number | null;
  revoked_ms: number | null;
}

/** The key of the store, encrypted with a key of the machine. There is one row, or none in a store without secrets. */
export interface StoreKeyTable {
  key_id: string;
  /** The id of the machine's key. */
  machine_id: string;
  /** See `seal`. */
  wrapped: string;
  created_ms: number;
}

/** A secret that the daemon needs in clear, encrypted with the key of the store. */
export interface SecretTable {
  name: string;
  /** See `seal`. */
  sealed: string;
  created_ms: number;
}

/** Schema version 39: encrypted secrets. Earlier versions had none in the database. */
export const secrets: readonly string[] = [
  `create table store_keys (
    key_id text not null primary key, machine_id text not null, wrapped text not null, created_ms bigint not null
  )`,
  'create table secrets (name text not null primary key, sealed text not null, created_ms bigint not null)',
];
