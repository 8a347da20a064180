import type { Clock } from '../../../../clock.ts';
import type { Log } from '../../../../log.ts';
import { placeOf } from '../place-of.ts';
import { type PostgresClient, writingClient } from '../postgres-connection.ts';
import { messageOf } from '../postgres-errors.ts';
import { rowsOf } from '../rows-of.ts';
import { plannedMigration, SCHEMA } from '../schema/postgres-migrations.ts';
import { requireUsable } from '../writing-session.ts';
import { warnOfClock } from './clock-lead.ts';
import { isOfAnother } from './database-lock.ts';
import { type LeaseState, type Machine, readLease } from './lease.ts';
import { createLeaseTables, LEASE_MS, RENEW_MS } from './lease-tables.ts';
import { findMachine, forgetFormer, forgetMachine, type MachineAddress, reportMachine } from './machines.ts';

/** The daemon that is active. */
export interface Holder extends Omit<MachineAddress, 'url'> {
  process: string;
  nodeId: string;
  url: string | undefined;
  /** By the clock of the database. */
  sinceMs: number;
}

/** What a home must have in common with the daemons before it; absent in an empty database. */
export interface StoreFacts {
  /** The id of the key of the machine that the secrets are encrypted with. */
  machineKeyId?: string;
  /** The SHA-256 of the operator token. */
  tokenDigest?: string;
}

/** A daemon that waits for the lease. It writes nothing but that it is there. */
export interface Candidate {
  readonly facts: StoreFacts;
  holder(): Holder | undefined;
  /** Calls when another daemon has become active. */
  onHolder(listener: () => void): void;
  /** Whether this daemon may take the lease now. Throws if the database cannot be reached; the next call connects again. */
  isFree(): Promise<boolean>;
  /** Whether this version would change the tables. Throws if it cannot use them, or the database cannot be reached. */
  hasOlderTables(): Promise<boolean>;
  /** Resolves when this daemon may take the lease. Rejects when the signal aborts. */
  untilFree(signal: AbortSignal): Promise<void>;
  /** `isOver`: this daemon will not take the lease. */
  close(how: { isOver: boolean }): Promise<void>;
}

interface CandidateDeps {
  url: string;
  machine: Machine;
  /** The epoch in which this daemon handed the lease over: another one may take it first. */
  handedOver: number | undefined;
  clock: Clock;
  log: Log;
}

/** Connects, and throws an error in words if this daemon could not use the database. */
export async function openCandidate(deps: CandidateDeps): Promise<Candidate> {
  const { machine, clock, log } = deps;
  const first = await connect(deps);
  const beganMs = clock.monotonic();
  let current: PostgresClient | undefined = first.client;
  let connectedMs = beganMs;
  let reported: { said: string; atMs: number } | undefined;
  let holder: Holder | undefined;
  const listeners: (() => void)[] = [];

  const follow = async (client: PostgresClient, found: LeaseState, { isDue }: { isDue: boolean }) => {
    const { owner, nodeId, sinceMs } = found;
    const isNew = holder?.process !== owner;
    // Again and again, because a daemon on a free port knows its address only once it listens.
    if (isNew || isDue || holder?.url === undefined)
      holder = { process: owner, nodeId, sinceMs, url: undefined, ...(await findMachine(client, owner)) };
    if (!isNew) return;
    log.info({ active: nodeId, epoch: found.epoch }, 'another daemon is active; this one waits');
    for (const listener of listeners) listener();
  };
  const look = async (): Promise<boolean> => {
    if (current === undefined) {
      current = (await connect(deps)).client;
      connectedMs = clock.monotonic();
    }
    const nowMs = clock.monotonic();
    // Its address is reported as soon as it listens, and what is wrong as soon as it is known.
    const isDue = reported === undefined || nowMs - reported.atMs >= RENEW_MS || reported.said !== saidBy(machine);
    if (isDue) {
      const said = saidBy(machine);
      await reportMachine(current, machine);
      reported = { said, atMs: nowMs };
    }
    const found = await readLease(current);
    if (found === undefined || found.isFree) holder = undefined;
    else await follow(current, found, { isDue });
    return mayTake(found, deps, { waitedMs: nowMs - beganMs, connectedForMs: nowMs - connectedMs });
  };

  /** The next look connects again. */
  const drop = (error: unknown): unknown => {
    void end(current);
    current = undefined;
    return error;
  };
  return {
    facts: first.facts,
    holder: () => holder,
    onHolder: (listener) => void listeners.push(listener),
    isFree: () => look().catch((error: unknown) => Promise.reject(drop(error))),
    hasOlderTables: () => wouldMigrate(current, deps),
    async untilFree(signal) {
      for (;;) {
        signal.throwIfAborted();
        try {
          if (await look()) return;
        } catch (error) {
          if (current) log.warn({ reason: messageOf(error) }, 'the database cannot be reached');
          drop(error);
          holder = undefined;
        }
        await clock.sleep(POLL_MS, signal);
      }
    },
    async close({ isOver }) {
      const client = current;
      current = undefined;
      if (client && isOver) await forgetMachine(client, machine).catch(() => undefined); // it is forgotten in a day
      await end(client);
    },
  };
}

const saidBy = ({ url, trouble }: Machine): string => `${url()} ${trouble?.() ?? ''}`;

async function wouldMigrate(client: PostgresClient | undefined, { url }: CandidateDeps): Promise<boolean> {
  if (client === undefined) throw new Error('the database is not connected');
  const { from, to } = await plannedMigration((sql, parameters) => rowsOf(client, sql, parameters), {
    place: placeOf(url),
  });
  return from !== to;
}

/** How soon a released lease is noticed. */
const POLL_MS = 100;
/** After the server was away, its daemon has a moment to renew its lease. */
const GRACE_MS = RENEW_MS;

function mayTake(
  found: LeaseState | undefined,
  { machine, handedOver }: CandidateDeps,
  { waitedMs, connectedForMs }: { waitedMs: number; connectedForMs: number },
): boolean {
  if (found === undefined) return true;
  if (isOfAnother(found, machine)) return false;
  if (found.isReleased) return found.epoch !== handedOver || waitedMs >= LEASE_MS;
  return found.nodeId === machine.nodeId || connectedForMs >= GRACE_MS;
}

async function connect({
  url,
  machine,
  clock,
  log,
}: CandidateDeps): Promise<{ client: PostgresClient; facts: StoreFacts }> {
  const place = placeOf(url);
  const client = writingClient(url, LEASE_MS);
  client.on('error', (err) => log.debug({ err }, 'the connection to the database ended')); // the next query fails
  try {
    await client.connect().catch((error: unknown) => {
      throw new Error(`${place} cannot be reached: ${messageOf(error)}`, { cause: error });
    });
    await requireUsable(client, place);
    await warnOfClock(client, { clock, log });
    await createLeaseTables(client);
    await plannedMigration((sql, parameters) => rowsOf(client, sql, parameters), { place });
    await forgetFormer(client, machine);
    return { client, facts: await readFacts(client) };
  } catch (error) {
    void end(client);
    throw error;
  }
}

export async function readFacts(client: PostgresClient): Promise<StoreFacts> {
  const [there] = await rowsOf(client, `select to_regclass('${SCHEMA}.store_keys') is not null as there`);
  if (!there?.there) return {};
  const [row] = await rowsOf(
    client,
    `select (select machine_id from ${SCHEMA}.store_keys) as key, (select value from ${SCHEMA}.meta where key = 'operator_token_sha256') as token`,
  );
  return {
    ...(typeof row?.key === 'string' && { machineKeyId: row.key }),
    ...(typeof row?.token === 'string' && { tokenDigest: row.token }),
  };
}

const end = async (client: PostgresClient | undefined): Promise<void> => {
  await client?.end().catch(() => undefined); // it is gone already
};
