import { Kysely } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { once } from '../../timing/once.ts';
import { type CheckedRows, createCheckedRows, type EventRow } from './checked-rows.ts';
import type { DaemonStore } from './daemon-store.ts';
import { createGroupWriter } from './group-writer.ts';
import { createLogHeads, type LogHeads } from './log-heads.ts';
import { migrate } from './schema/migrations.ts';
import type { Database } from './schema/schema.ts';
import { type CheckpointWorker, createCheckpointer } from './sqlite/checkpointer.ts';
import { openUndamaged } from './sqlite/damage.ts';
import { createDiskHealth, type DiskHealth } from './sqlite/disk-health.ts';
import { type Connection, pageBytesOf } from './sqlite/sqlite-connection.ts';
import { sqliteDialect } from './sqlite/sqlite-dialect.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';
import { localCheckpoint, probeDisk } from './sqlite/writing-connection.ts';
import { build, statementOf } from './statements.ts';
import type { Statement, Store } from './store.ts';
import { toReadError } from './store-fault.ts';
import { claimIdentity, releaseIdentity, requireWholeFile, UPSERT_META } from './store-identity.ts';
import { createUnitQueue, type UnitQueue } from './unit-queue.ts';
import { sqliteWords } from './words/sqlite-words.ts';

/** The store of one machine: a SQLite file that only this process writes. */
export interface SqliteStore extends DaemonStore {
  /**
   * The machine went down while the previous daemon was running, so its last commits may be lost unless they were
   * durable.
   */
  readonly openedAfterUncleanPowerLoss: boolean;
  /** The path that a damaged file was moved to at this start. */
  readonly setAside: string | undefined;
  /** The intact rows of a log as they are stored, for its compaction; everything else reads events. */
  readEventRows(wsId: string, after: number, limit: number): Promise<EventRow[]>;
}

export interface SqliteStoreOptions {
  path: string;
  clock: Clock;
  log: Log;
  durability: 'normal' | 'full';
  /** Identifies the boot of the machine; on Linux /proc/sys/kernel/random/boot_id. */
  bootId: string;
  checkpoint?: CheckpointWorker;
  maxWalBytes?: number;
}

/** Opens, checks, migrates and claims the file. For the possible errors see `openUndamaged` and `migrate`. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { path, clock, log, durability, bootId, maxWalBytes = 64 * 1_048_576 } = options;
  const opened = openUndamaged(path, {
    clock,
    log,
    prepare(connection, { hasLostCommits }) {
      requireWholeFile(connection, path);
      migrate(connection, { path, log });
      connection.run(`pragma synchronous = ${durability}`);
      connection.run('pragma wal_autocheckpoint = 0');
      connection.run(`pragma journal_size_limit = ${maxWalBytes}`); // a larger log is truncated when it restarts
      connection.run('pragma cache_size = -16384'); // KiB
      return claimIdentity(connection, { bootId, durability, hasLostCommits });
    },
  });
  const { connection, prepared: identity } = opened;
  const health = createDiskHealth({ clock, log, probe: () => probeDisk(connection) });
  const onDamage = (error: unknown) => health.damaged(error);
  const heads = createLogHeads({ connection, onDamage });
  const rows = createCheckedRows({ connection, heads, onDamage });
  const checkpointer = createCheckpointer({
    worker: options.checkpoint,
    fallback: localCheckpoint(connection),
    clock,
    log,
    maxWalBytes,
    pageBytes: pageBytesOf(connection),
  });
  const queue = createUnitQueue({
    write: createGroupWriter({ connection, heads, clock, durability }),
    clock,
    log,
    onResult: ({ walBytes, mayWait }) => checkpointer.wrote(walBytes, mayWait),
    onFailure: (error) => health.failed(error),
    onDamage,
  });
  const close = once(async () => {
    queue.close();
    health.close();
    try {
      await checkpointer.close();
      releaseIdentity(connection, heads.takeUnsaved(Number.POSITIVE_INFINITY));
    } catch (err) {
      log.warn({ err }, 'the clean stop could not be recorded; the next start checks the database');
    } finally {
      connection.close();
    }
  });
  return {
    ...storeOver({ connection, heads, rows, queue, reading: readingFor(health) }),
    ...identity,
    machine: null,
    place: path,
    setAside: opened.damage.setAside,
    notices: opened.damage.notices,
    reportDamage: onDamage,
    emptyLog: checkpointer.empty,
    health: () => health.status(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Reading = <T>(read: () => T) => T;

/** Callers of a failed read get an error that says what to do; the writer gets SQLite's own errors. */
const readingFor =
  (health: DiskHealth): Reading =>
  (read) => {
    try {
      return read();
    } catch (error) {
      if (faultOf(error) === 'damaged') health.damaged(error);
      throw toReadError(error);
    }
  };

interface StoreDeps {
  connection: Connection;
  heads: LogHeads;
  rows: CheckedRows;
  queue: UnitQueue;
  reading: Reading;
}

function storeOver({ connection, heads, rows, queue, reading }: StoreDeps) {
  const all: Connection['all'] = (sql, parameters) => reading(() => connection.all(sql, parameters));
  return {
    db: new Kysely<Database>({ dialect: sqliteDialect({ prepare: connection.prepare, all, close: connection.close }) }),
    words: sqliteWords,
    commit: queue.commit,
    onCommit: queue.onCommit,
    onCommitted: queue.onCommitted,
    waiting: queue.waiting,
    onWritten: queue.onWritten,
    openLogs: async () => undefined, // each is read when it is asked for
    beginLog: (wsId: string) => heads.forget(wsId),
    bounds: (wsId: string) => reading(() => ({ ...heads.bounds(wsId) })),
    readEvents: async (...page: Parameters<Store['readEvents']>) => reading(() => rows.events(...page)),
    findNewestEvent: async (...event: Parameters<Store['findNewestEvent']>) =>
      reading(() => rows.newestEvent(...event)),
    readMessages: async (...range: Parameters<Store['readMessages']>) => reading(() => rows.messages(...range)),
    readEventRows: async (...page: Parameters<SqliteStore['readEventRows']>) => reading(() => rows.eventRows(...page)),
    async markAlive(nowMs: number, { durable } = { durable: false }): Promise<void> {
      const alive: Statement = { sql: UPSERT_META, parameters: ['last_alive_ms', String(nowMs)] };
      await queue.commit({ statements: [alive, ...heads.takeUnsaved(MAX_HEADS)], durable, mayWait: true });
    },
    async dropPrefix(wsId: string, through: number): Promise<void> {
      const events = build.deleteFrom('events').where('ws_id', '=', wsId).where('offset', '<=', through);
      await queue.commit({ statements: [reading(() => heads.begin(wsId, through)), statementOf(events)] });
      heads.forget(wsId);
    },
  };
}

/** How many ends of logs are stored at once, so that the event loop is not blocked. */
const MAX_HEADS = 500;
