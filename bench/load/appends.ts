import { readFileSync } from 'node:fs';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { systemClock } from '../../src/clock.ts';
import { openPostgresStore } from '../../src/gateway/store/postgres/postgres-store.ts';
import { eventChecksum } from '../../src/gateway/store/row-checksum.ts';
import { openSqliteStore } from '../../src/gateway/store/sqlite-store.ts';
import type { Store } from '../../src/gateway/store/store.ts';
import { createLog } from '../../src/pino-log.ts';
import { someMachine } from '../../src/testing/some-machine.ts';
import { serveTasks } from '../task-process.ts';

interface Appended {
  rows: number;
  cpuMs: number;
  tookMs: number;
}

interface Streamed {
  path: string;
  streams: number;
  pieces: number;
}

const PIECE = 'word';

/** As long as real ones. */
const wsIdsOf = (streams: number): string[] =>
  Array.from({ length: streams }, (_, n) => String(n).padStart(32, 'c090dfa6274c7cbd'));

/** What this process has written so far, to files and elsewhere. */
function writtenBytes(): number {
  const [, bytes = '0'] = /^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8')) ?? [];
  return Number(bytes);
}

const EVENT = { type: 'info', message: 'x'.repeat(100) } as const;

const tasks = {
  /** Appends events through the store. */
  async store({ path, rows, writers }: { path: string; rows: number; writers: number }): Promise<Appended> {
    const log = createLog({ level: 'silent', readable: false });
    await using store = await openSqliteStore({ path, clock: systemClock, log, durability: 'normal', bootId: 'bench' });
    return await append(store, { rows, writers });
  },

  /** The same through the store over PostgreSQL. */
  async postgres({ url, rows, writers }: { url: string; rows: number; writers: number }): Promise<Appended> {
    const log = createLog({ level: 'silent', readable: false });
    await using store = await openPostgresStore({ url, machine: someMachine(), clock: systemClock, log });
    return await append(store, { rows, writers });
  },

  /** The same with plain pg: each writer has a connection, and each row is a transaction. */
  async barePostgres({ url, rows, writers }: { url: string; rows: number; writers: number }): Promise<Appended> {
    const pool = new pg.Pool({ connectionString: url, max: writers });
    await pool.query(
      'create table if not exists events (ws_id text, "offset" bigint, body_json text, created_ms bigint, primary key (ws_id, "offset"))',
    );
    await pool.query('truncate events');
    const text = 'insert into events values ($1, $2, $3, $4)';
    const cost = await costOf(rows, async () => {
      const write = async (_: unknown, writer: number) => {
        const client = await pool.connect();
        for (let n = writer; n < rows; n += writers) {
          const values = [`ws-${writer}`, n, JSON.stringify(EVENT), systemClock.now()];
          await client.query({ name: 'insert', text, values });
        }
        client.release();
      };
      await Promise.all(Array.from({ length: writers }, write));
    });
    await pool.end();
    return cost;
  },

  /** Streams answers in pieces of four characters, one piece of each at a time. Returns the bytes written per character. */
  async streamed({ path, streams, pieces }: Streamed): Promise<number> {
    const log = createLog({ level: 'silent', readable: false });
    await using store = await openSqliteStore({ path, clock: systemClock, log, durability: 'normal', bootId: 'bench' });
    const before = writtenBytes();
    for (let n = 0; n < pieces; n += 1) {
      await Promise.all(
        wsIdsOf(streams).map((wsId) => store.commit({ events: { wsId, events: [{ type: 'content', text: PIECE }] } })),
      );
    }
    return (writtenBytes() - before) / (streams * pieces * PIECE.length);
  },

  /** The same with plain SQLite: a row per piece, a transaction per turn. */
  async streamedBare({ path, streams, pieces }: Streamed): Promise<number> {
    using database = new DatabaseSync(path);
    database.exec(
      'pragma journal_mode = wal; pragma synchronous = normal; create table events (ws_id text, "offset" integer, body_json text, created_ms integer, primary key (ws_id, "offset")) without rowid',
    );
    const insert = database.prepare('insert into events values (?, ?, ?, ?)');
    const before = writtenBytes();
    for (let n = 0; n < pieces; n += 1) {
      database.exec('begin');
      const body = JSON.stringify({ type: 'content', text: PIECE });
      for (const wsId of wsIdsOf(streams)) insert.run(wsId, n, body, systemClock.now());
      database.exec('commit');
    }
    return (writtenBytes() - before) / (streams * pieces * PIECE.length);
  },

  /** Computes only the checksums of the same rows. */
  async checksums({ rows, writers }: { rows: number; writers: number }): Promise<Appended> {
    const body_json = JSON.stringify(EVENT);
    const created_ms = systemClock.now();
    let sum = 0;
    const appended = await costOf(rows, async () => {
      for (let n = 0; n < rows; n += 1) {
        sum ^= eventChecksum({ ws_id: `ws-${n % writers}`, offset: n, body_json, created_ms });
      }
    });
    if (!Number.isInteger(sum)) throw new Error('the sums were not used'); // keeps the computation from being optimized away
    return appended;
  },

  /** Appends the same rows with plain SQLite, each in a separate transaction. */
  async bare({ path, rows }: { path: string; rows: number }): Promise<Appended> {
    using database = new DatabaseSync(path);
    database.exec('pragma journal_mode = wal; pragma synchronous = normal');
    database.exec(
      'create table events (ws_id text, "offset" integer, body_json text, created_ms integer, primary key (ws_id, "offset")) without rowid',
    );
    const insert = database.prepare('insert into events values (?, ?, ?, ?)');
    return await costOf(rows, async () => {
      for (let n = 0; n < rows; n += 1) {
        insert.run('ws-0', n, JSON.stringify(EVENT), systemClock.now());
      }
    });
  },
};

/** Each of the writers waits for its own commits. */
function append(store: Pick<Store, 'commit'>, { rows, writers }: { rows: number; writers: number }): Promise<Appended> {
  return costOf(rows, async () => {
    const write = async (_: unknown, writer: number) => {
      for (let n = writer; n < rows; n += writers) {
        await store.commit({ events: { wsId: `ws-${writer}`, events: [EVENT] } });
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
  });
}

export type AppendTasks = typeof tasks;

async function costOf(rows: number, work: () => Promise<void>): Promise<Appended> {
  const startMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { rows, cpuMs: (user + system) / 1000, tookMs: performance.now() - startMs };
}

serveTasks(tasks);
