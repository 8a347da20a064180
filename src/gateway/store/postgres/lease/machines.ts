import { labelsIn, toLabelColumn } from '../../../workers/can-own.ts';
import type { PostgresClient } from '../postgres-connection.ts';
import { rowsOf } from '../rows-of.ts';
import { DAEMON_LEASE, type Machine } from './lease.ts';
import { LEASE_MS } from './lease-tables.ts';
import type { Peers } from './peers.ts';

/** Says that this machine is there. */
export async function reportMachine(client: PostgresClient, machine: Machine): Promise<void> {
  const { process, nodeId, version, labels, publicKey, isWorker = false } = machine;
  const address = machine.address() ?? null;
  const trouble = machine.trouble?.()?.slice(0, LONGEST_TROUBLE) ?? null;
  const about = [process, nodeId, machine.url(), version, address, publicKey, isWorker, toLabelColumn(labels), trouble];
  await rowsOf(client, REPORT, about);
}

const LONGEST_TROUBLE = 500;

const REPORT = `insert into machines (process, node_id, server_url, version, address, public_key, is_worker, labels, trouble, seen_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp())
  on conflict (process) do update set seen_at = excluded.seen_at, labels = excluded.labels, trouble = excluded.trouble, address = coalesce(excluded.address, machines.address),
    server_url = case when excluded.server_url = '' then machines.server_url else excluded.server_url end`;

/** Removes former processes of this home, and machines that have been gone for a day. */
export async function forgetFormer(client: PostgresClient, { process, nodeId }: Machine): Promise<void> {
  await rowsOf(
    client,
    `delete from machines where process <> $1 and (node_id = $2 or seen_at < clock_timestamp() - interval '1 day')`,
    [process, nodeId],
  );
}

/** The machine has stopped in order. */
export async function forgetMachine(client: PostgresClient, { process }: Pick<Machine, 'process'>): Promise<void> {
  await rowsOf(client, 'delete from machines where process = $1', [process]);
}

/** Where a daemon is. */
export interface MachineAddress {
  /** For clients; absent until it listens. */
  url?: string;
  /** For other daemons; absent if they cannot reach it, or it does not say. */
  address?: string;
  publicKey?: string;
}

export async function findMachine(client: PostgresClient, process: string): Promise<MachineAddress | undefined> {
  const [row] = await rowsOf(client, 'select server_url, address, public_key from machines where process = $1', [
    process,
  ]);
  if (row === undefined) return undefined;
  const { server_url: url, address, public_key: publicKey } = row;
  return {
    ...(typeof url === 'string' && url !== '' && { url }),
    ...(typeof address === 'string' && { address }),
    ...(typeof publicKey === 'string' && { publicKey }),
  };
}

export async function readPeers(client: PostgresClient, { process }: Pick<Machine, 'process'>): Promise<Peers> {
  const rows = await rowsOf(
    client,
    `select node_id, address from machines where process <> $1 and is_worker is not true and seen_at > clock_timestamp() - interval '${LEASE_MS} milliseconds'`,
    [process],
  );
  return new Map(
    rows.map(({ node_id: nodeId, address }) => [String(nodeId), typeof address === 'string' ? address : undefined]),
  );
}

/** For the connections that only read: the keys of the daemons that are there. */
export const READ_PUBLIC_KEY = `select public_key from machines
  where process = $1 and seen_at > clock_timestamp() - interval '${3 * LEASE_MS} milliseconds'`;

/** For the connections that only read. Ages are the server's, so that no other clock matters. */
export const READ_MACHINES = `select process, machines.node_id, server_url, version, labels, is_worker, trouble, extract(epoch from started_at) * 1000 as started_ms,
    extract(epoch from clock_timestamp() - seen_at) * 1000 as seen_ago_ms,
    leases.epoch, extract(epoch from leases.since) * 1000 as since_ms,
    extract(epoch from leases.expires_at - clock_timestamp()) * 1000 as left_ms
  from machines left join leases on leases.name = '${DAEMON_LEASE}' and leases.owner = machines.process
    and leases.expires_at > clock_timestamp()
  order by machines.node_id, process`;

/** A machine as the database knows it. */
export interface KnownMachine {
  nodeId: string;
  serverUrl: string;
  version: string;
  labels: string[];
  /** `lost`: it has not reported for longer than a lease lasts. */
  state: 'active' | 'standby' | 'worker' | 'lost';
  isHere: boolean;
  /** Why it does not work together with the others. */
  trouble?: string;
  startedMs: number;
  /** How long ago it reported last. */
  seenAgoMs: number;
  /** Of the active one. */
  lease?: { epoch: number; sinceMs: number; renewedAgoMs: number };
}

/** A row of `READ_MACHINES`. */
export interface MachineRow {
  process: string;
  node_id: string;
  server_url: string;
  version: string;
  /** Null in rows of earlier versions, too. */
  labels: string | null;
  started_ms: number;
  seen_ago_ms: number;
  is_worker: boolean | null;
  trouble: string | null;
  epoch: number | null;
  since_ms: number | null;
  left_ms: number | null;
}

export function toMachine(row: MachineRow, here: Pick<Machine, 'process'>): KnownMachine {
  const seenAgoMs = Math.max(0, Math.round(row.seen_ago_ms));
  const lease = toHeld(row);
  return {
    nodeId: row.node_id,
    serverUrl: row.server_url,
    version: row.version,
    labels: labelsIn(row.labels),
    state: lease ? 'active' : seenAgoMs > LEASE_MS ? 'lost' : row.is_worker ? 'worker' : 'standby',
    isHere: row.process === here.process,
    startedMs: Math.round(row.started_ms),
    seenAgoMs,
    ...(row.trouble !== null && { trouble: row.trouble }),
    ...(lease && { lease }),
  };
}

function toHeld({ epoch, since_ms, left_ms }: MachineRow): KnownMachine['lease'] {
  if (epoch === null || since_ms === null || left_ms === null) return undefined;
  return { epoch, sinceMs: Math.round(since_ms), renewedAgoMs: Math.max(0, Math.round(LEASE_MS - left_ms)) };
}
