import { Kysely } from 'kysely';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { once } from '../../../timing/once.ts';
import type { DaemonStore, DatabaseFiles } from '../daemon-store.ts';
import { SAVE_FIRST } from '../log-heads.ts';
import type { Database } from '../schema/schema.ts';
import { build, statementOf } from '../statements.ts';
import type { StoreHealth } from '../store.ts';
import { UPSERT_META } from '../store-identity.ts';
import { postgresWords } from '../words/postgres-words.ts';
import { createDatabaseHealth } from './database-health.ts';
import { createDatabaseAttachments } from './files/database-attachments.ts';
import { createDatabaseOutputs } from './files/database-outputs.ts';
import type { FileRows } from './files/stored-files.ts';
import { placeOf } from './place-of.ts';
import { withNumbers } from './placeholders.ts';
import { readingPool } from './postgres-connection.ts';
import { postgresDialect } from './postgres-dialect.ts';
import { loadHeads, type PostgresHeads } from './postgres-heads.ts';
import { createPostgresQueue, type PostgresQueue } from './postgres-queue.ts';
import { createPostgresRows } from './postgres-rows.ts';
import { createPostgresWriter } from './postgres-writer.ts';
import { createReading, type Reading } from './reading.ts';
import { openWritingSession } from './writing-session.ts';

export interface PostgresStoreOptions {
  /** The address of the database, with a password perhaps. */
  url: string;
  clock: Clock;
  log: Log;
  /** How long the server may be silent before the connection counts as lost. */
  silentMs?: number;
}

/**
 * The store in a PostgreSQL database that one daemon writes. Connects, claims and migrates the database; throws an error in
 * words when that is not possible.
 */
export async function openPostgresStore({ url, clock, log, silentMs }: PostgresStoreOptions): Promise<DaemonStore> {
  const place = placeOf(url);
  const session = await openWritingSession({
    url,
    place,
    clock,
    log,
    silentMs,
    onLost: (error) => health.failed(error),
  });
  const health = createDatabaseHealth({ clock, log, restore: session.restore });
  const pool = readingPool(url, log);
  const onDamage = (error: unknown) => health.damaged(error);
  const reading = createReading(pool, { onDamage });
  const closeAll = once(async () => {
    health.close();
    // A server that is silent does not confirm the end of a connection.
    const answered = new AbortController();
    const ended = Promise.all([session.close(), pool.end()]).finally(() => answered.abort());
    await Promise.race([ended, clock.sleep(CLOSE_MS, answered.signal).catch(() => undefined)]);
  });
  const heads = await loadHeads(reading.read).catch(async (error: unknown) => {
    await closeAll();
    throw error;
  });
  const rows = createPostgresRows({ reading, heads, onDamage });
  const queue = createPostgresQueue({
    write: createPostgresWriter({ session, heads, clock, onLost: health.failed }),
    clock,
    log,
    refusal: () => refusalOf(health.status()),
    onFailure: health.failed,
    onDamage,
  });
  const close = once(async () => {
    // What waits for the answer of a lost server is given up.
    if (refusalOf(health.status()) !== undefined) await closeAll();
    await queue.close();
    await closeAll();
  });
  return {
    place,
    ...session.claimed,
    notices: [],
    files: filesOf({ queue, reading, onDamage, clock }),
    words: postgresWords,
    db: new Kysely<Database>({ dialect: postgresDialect(reading.read) }),
    commit: queue.commit,
    onCommit: queue.onCommit,
    onCommitted: queue.onCommitted,
    waiting: queue.waiting,
    onWritten: queue.onWritten,
    bounds: (wsId) => ({ ...heads.bounds(wsId) }),
    readEvents: rows.events,
    findNewestEvent: rows.newestEvent,
    readMessages: rows.messages,
    ...changesOf(queue, heads),
    reportDamage: onDamage,
    emptyLog: async () => true, // the server's own
    health: health.status,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** How long an orderly end of the connections may take. */
const CLOSE_MS = 2_000;

/** Damage of some rows does not prevent others from being written. */
const refusalOf = ({ status, reason, damaged }: StoreHealth): string | undefined =>
  status === 'ok' || damaged ? undefined : reason;

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

function changesOf(queue: PostgresQueue, heads: PostgresHeads): Pick<DaemonStore, 'markAlive' | 'dropPrefix'> {
  return {
    async markAlive(nowMs) {
      await queue.commit({ statements: [{ sql: UPSERT_META, parameters: ['last_alive_ms', String(nowMs)] }] });
    },
    async dropPrefix(wsId, through) {
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
