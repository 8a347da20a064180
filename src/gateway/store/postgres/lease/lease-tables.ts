import type { PostgresClient } from '../postgres-connection.ts';
import { rowsOf } from '../rows-of.ts';
import { MIGRATION_LOCK, SCHEMA } from '../schema/postgres-migrations.ts';

/**
 * How long a lease lasts after it was renewed. A daemon that dies is replaced within ten seconds, of which the start of another
 * one takes two at most.
 */
export const LEASE_MS = 6_000;
/** Two renewals may fail, as when the server restarts, before the lease ends. */
export const RENEW_MS = 2_000;

/**
 * The tables of the lease and of the machines. They are no part of the migrations, because only the holder of the lease may
 * migrate, and they are not copied to another store. All times in them are the server's. Versions of Headgate that differ by
 * one share them: add columns that may be null, and change none.
 */
const CREATE = `create schema if not exists ${SCHEMA};
  create table if not exists ${SCHEMA}.leases (
    name text not null primary key,
    owner text not null,
    node_id text not null,
    epoch bigint not null,
    pid bigint not null,
    since timestamptz not null,
    expires_at timestamptz not null
  );
  create table if not exists ${SCHEMA}.machines (
    process text not null primary key,
    node_id text not null,
    server_url text not null,
    version text not null,
    started_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null
  );
  alter table ${SCHEMA}.machines add column if not exists address text, add column if not exists public_key text,
    add column if not exists is_worker boolean, add column if not exists labels text, add column if not exists trouble text`;

/** The views of `information_schema` take twenty times as long. */
const NEWEST_COLUMN = `select 1 as there from pg_attribute
  where attrelid = to_regclass('${SCHEMA}.machines') and attname = 'trouble' and not attisdropped`;

/** Machines that start together wait for each other. */
export async function createLeaseTables(client: PostgresClient): Promise<void> {
  const [there] = await rowsOf(client, NEWEST_COLUMN);
  if (there) return;
  await rowsOf(client, `begin; select pg_advisory_xact_lock(${MIGRATION_LOCK}); ${CREATE}; commit`);
}
