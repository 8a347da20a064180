import { Kysely } from 'kysely';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { once } from '../../../timing/once.ts';
import type { DaemonStore, DatabaseFiles, SharedStore } from '../daemon-store.ts';
import { SAVE_FIRST } from '../log-heads.ts';
import type { Database } from '../schema/schema.ts';
import { build, statementOf } from '../statements.ts';
import type { StoreHealth } from '../store.ts';
import { UPSERT_META } from '../store-identity.ts';
import { postgresWords } from '../words/postgres-words.ts';
import { createDatabaseHealth, type DatabaseHealth } from './database-health.ts';
import { createDatabaseAttachments } from './files/database-attachments.ts';
import { createDatabaseOutputs } from './files/database-outputs.ts';
import type { FileRows } from './files/stored-files.ts';
import type { Forgotten } from './group-marks.ts';
import { endLeaseOf } from './lease/database-lock.ts';
import { LeaseLost, type Machine, READ_LIVE_WORKERS } from './lease/lease.ts';
import { type MachineRow, READ_MACHINES, READ_PUBLIC_KEY, toMachine } from './lease/machines.ts';
import { aliveKeyOf } from './lease/prepare-database.ts';
import { createLeftLogs, type LeftLogs } from './left-logs.ts';
import { placeOf } from './place-of.ts';
import { withNumbers } from './placeholders.ts';
import { type PostgresPool, readingPool } from './postgres-connection.ts';
import { postgresDialect } from './postgres-dialect.ts';
import { postgresFaultOf } from './postgres-errors.ts';
import { createHeads, type PostgresHeads } from './postgres-heads.ts';
import { createPostgresQueue, type PostgresQueue } from './postgres-queue.ts';
import { createPostgresRows } from './postgres-rows.ts';
import { createPostgresWriter } from './postgres-writer.ts';
import { createReading, type Reading } from './reading.ts';
import { openWritingSession, type WritingSession } from './writing-session.ts';

export interface PostgresStoreOptions {
  /** The address of the database, with a password perhaps. */
  url: string;
  /** This daemon, as the others know it. */
  machine: Machine;
  clock: Clock;
  log: Log;
  /** How long the server may be silent before the connection counts as lost. */
  silentMs?: number;
  /** How long reads and writes wait for a lost connection; by default not at all. */
  retryForMs?: number;
  /** This daemon refuses to write from now on. */
  onOver?(why: StoreEnd): void;
}

/** `replaced`: another daemon has taken the lease. `forgotten`: the database lacks changes that it had confirmed. */
export type StoreEnd = 'replaced' | 'forgotten';

/**
 * The store in a PostgreSQL database that one daemon writes. Connects, claims and migrates the database; throws an error in
 * words when that is not possible.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<DaemonStore> {
  const { url, machine, clock, log } = options;
  const place = placeOf(url);
  const isWorthWaiting = (lostMs: number): boolean =>
    clock.monotonic() - lostMs < (options.retryForMs ?? 0) && !isLeftToAnother(session);
  const health = createDatabaseHealth({ clock, log, restore: () => session.restore(), isWorthWaiting });
  const onOver = once(async (why: LeaseLost | Forgotten) => {
    health.failed(why);
    options.onOver?.(why instanceof LeaseLost ? 'replaced' : 'forgotten');
  });
  const pool = readingPool(url, log);
  const session = await openSession(options, { health, pool, onOver: (why) => void onOver(why) });
  const closing = new AbortController();
  const stopWaiting = (): void => {
    health.stopWaiting();
    closing.abort();
  };
  const onDamage = (error: unknown) => health.damaged(error);
  const reading = createReading(pool, { clock, log, onDamage, isWorthWaiting, health, closing: closing.signal });
  const closeAll = once(async () => {
    health.close();
    await endConnections({ session, pool, clock });
  });
  const heads = createHeads(reading.read);
  const left = createLeftLogs();
  const rows = createPostgresRows({ reading, heads, onDamage });
  const queue = createPostgresQueue({
    write: createPostgresWriter({ session, heads, clock, onLost: health.failed }),
    clock,
    log,
    refusal: health.refusal,
    mayTryAgain: (error) => isLostOnlyNow(error, health),
    onFailure: (error) => (error instanceof LeaseLost ? void onOver(error) : health.failed(error)),
    onDamage,
  });
  health.onGivenUp(queue.refuseWaiting);
  const close = once(() => closeInOrder({ queue, health, stopWaiting, closeAll }));
  return {
    place,
    ...session.claimed,
    notices: [],
    files: filesOf({ queue, reading, onDamage, clock }),
    words: postgresWords,
    machine: machine.isWorker ? machine.nodeId : null,
    db: new Kysely<Database>({ dialect: postgresDialect(reading.read) }),
    commit: left.guarding(queue.commit),
    onCommit: queue.onCommit,
    onCommitted: queue.onCommitted,
    onTables: queue.onTables,
    waiting: queue.waiting,
    onWritten: queue.onWritten,
    ...logsOf(heads, left),
    bounds: (wsId) => ({ ...heads.bounds(wsId) }),
    readEvents: rows.events,
    findNewestEvent: rows.newestEvent,
    readMessages: rows.messages,
    ...changesOf(queue, heads, aliveKeyOf(session.lease)),
    reportDamage: onDamage,
    emptyLog: async () => true, // the server's own
    shared: sharedOf(session, { reading, machine, stopWaiting }),
    health: health.status,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function openSession(
  { url, machine, clock, log, silentMs }: PostgresStoreOptions,
  { health, pool, onOver }: { health: DatabaseHealth; pool: PostgresPool; onOver(why: LeaseLost | Forgotten): void },
): Promise<WritingSession> {
  const place = placeOf(url);
  const onLost = (error: unknown): void => {
    pool.lose(); // perhaps the server is gone without a word
    health.failed(error);
  };
  const opening = openWritingSession({ url, place, machine, clock, log, silentMs, onLost, onOver });
  return opening.catch((error: unknown) => {
    health.close();
    throw error;
  });
}

const sharedOf = (
  { lease, leaseAgeMs, mayBeReplaced, peers }: WritingSession,
  { reading, machine, stopWaiting }: Pick<SharedStore, 'stopWaiting'> & { reading: Reading; machine: Machine },
): SharedStore => ({
  epoch: lease.epoch,
  leaseAgeMs,
  mayBeReplaced,
  peers,
  stopWaiting,
  endWorker: endLeaseOf,
  liveWorkers: async () =>
    new Set((await reading.read<{ node_id: string }>(READ_LIVE_WORKERS, [])).map(({ node_id }) => node_id)),
  machines: async () => (await reading.read<MachineRow>(READ_MACHINES, [])).map((row) => toMachine(row, machine)),
  async publicKeyOf(process) {
    const [row] = await reading.read<{ public_key: string | null }>(READ_PUBLIC_KEY, [process]);
    return row?.public_key ?? undefined;
  },
});

/** The last group is written first. */
async function closeInOrder({
  queue,
  health,
  stopWaiting,
  closeAll,
}: {
  queue: PostgresQueue;
  health: DatabaseHealth;
  stopWaiting(): void;
  closeAll(): Promise<void>;
}): Promise<void> {
  stopWaiting();
  // What waits for the answer of a lost server is given up.
  if (isAway(health.status())) await closeAll();
  const written = queue.close();
  await Promise.race([written, health.untilFailed()]);
  await closeAll();
  await written;
}

/** A server that is silent does not confirm the end of a connection. */
async function endConnections({
  session,
  pool,
  clock,
}: {
  session: WritingSession;
  pool: PostgresPool;
  clock: Clock;
}): Promise<void> {
  const answered = new AbortController();
  const ended = Promise.all([session.close(), pool.end()]).finally(() => answered.abort());
  await Promise.race([ended, clock.sleep(CLOSE_MS, answered.signal).catch(() => undefined)]);
}

/** How long an orderly end of the connections may take. */
const CLOSE_MS = 2_000;

/** Damage of some rows does not prevent others from being written. */
const isAway = ({ status, damaged }: StoreHealth): boolean => status === 'degraded' && !damaged;

async function isLostOnlyNow(error: unknown, health: DatabaseHealth): Promise<boolean> {
  if (postgresFaultOf(error) !== 'lost') return false;
  health.failed(error);
  return health.untilBack();
}

/** Clients and runs have more from the daemon that takes over than from one that waits on. */
const isLeftToAnother = ({ mayBeReplaced, peers }: WritingSession): boolean =>
  mayBeReplaced() && peers.current().size > 0;

type FileParts = Pick<FileRows, 'onDamage' | 'clock'> & { queue: PostgresQueue; reading: Reading };

function filesOf({ queue, reading, onDamage, clock }: FileParts): DatabaseFiles {
  const rows: FileRows = {
    commit: (statements) => queue.commit({ statements }),
    read: (sql, parameters) => reading.read(withNumbers(sql), parameters),
    onDamage,
    clock,
  };
  return { attachments: createDatabaseAttachments(rows), outputs: createDatabaseOutputs(rows) };
}

const logsOf = (
  heads: PostgresHeads,
  left: LeftLogs,
): Pick<DaemonStore, 'openLogs' | 'beginLog' | 'noteGrowth' | 'rereadLogs' | 'leaveLog' | 'takeLogs'> => ({
  openLogs: heads.know,
  beginLog: heads.reset,
  noteGrowth: heads.noteGrowth,
  rereadLogs: heads.reread,
  leaveLog: left.leave,
  async takeLogs(wsIds) {
    await heads.reread(wsIds);
    left.take(wsIds);
  },
});

function changesOf(
  queue: PostgresQueue,
  heads: PostgresHeads,
  aliveKey: string,
): Pick<DaemonStore, 'markAlive' | 'dropPrefix'> {
  return {
    async markAlive(nowMs) {
      await queue.commit({ statements: [{ sql: UPSERT_META, parameters: [aliveKey, String(nowMs)] }] });
    },
    async dropPrefix(wsId, through) {
      await heads.know([wsId]);
      const { last } = heads.bounds(wsId);
      const events = build.deleteFrom('events').where('ws_id', '=', wsId).where('offset', '<=', through);
      const takeBack = heads.begin(wsId, through);
      try {
        const first = { sql: SAVE_FIRST, parameters: [wsId, through + 1, last] };
        await queue.commit({ statements: [first, statementOf(events)] });
      } catch (error) {
        takeBack();
        throw error;
      }
    },
  };
}
