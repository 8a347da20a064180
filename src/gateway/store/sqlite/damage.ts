import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Notice, warn } from '../../../../protocol/notice.ts';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { isCleanlyStopped } from '../store-identity.ts';
import { type Connection, openConnection, openReadingConnection } from './sqlite-connection.ts';
import { faultOf } from './sqlite-errors.ts';
import { findLogLoss } from './write-ahead-log.ts';

/** An intact file, and the damage found before. */
export interface Opened<T> {
  connection: Connection;
  prepared: T;
  damage: Damage;
}

/** The damage found at a start. */
export interface Damage {
  /** The path that a damaged database was moved to. */
  setAside?: string;
  /** Commits that the previous daemon confirmed are missing. */
  hasLostCommits: boolean;
  notices: Notice[];
}

interface OpeningDeps<T> {
  clock: Clock;
  log: Log;
  prepare(connection: Connection, damage: Damage): T;
}

/**
 * Opens a file and prepares it. A damaged file is moved aside unchanged and replaced by an empty one; a damaged log is
 * copied. A file that only cannot be accessed (permissions, a full disk) stays where it is, and the error is thrown.
 */
export function openUndamaged<T>(path: string, deps: OpeningDeps<T>): Opened<T> {
  const stamp = new Date(deps.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const index = existsSync(`${path}-shm`) ? readFileSync(`${path}-shm`) : undefined; // each opening creates it again
  const damage = keepDamagedLog(path, { index, stamp, log: deps.log });
  try {
    return { ...openChecked(path, (connection) => deps.prepare(connection, damage)), damage };
  } catch (err) {
    if (!isDamage(err)) throw err;
    const setAside = setFilesAside(path, { index, stamp });
    deps.log.error({ err, setAside }, 'the database is damaged; moved it aside and created an empty one');
    const notice = `The database was damaged. It was moved to ${basename(setAside)}, and an empty one was created.`;
    const found = { setAside, hasLostCommits: true, notices: [warn('database_set_aside', notice)] };
    return { ...openPrepared(path, (connection) => deps.prepare(connection, found)), damage: found };
  }
}

interface Surroundings {
  index: Buffer | undefined;
  stamp: string;
}

/** Keeps a copy of a damaged log, because SQLite continues after the readable part of a log and overwrites the rest. */
function keepDamagedLog(path: string, { index, stamp, log }: Surroundings & { log: Log }): Damage {
  const file = `${path}-wal`;
  const loss = findLogLoss({ log: existsSync(file) ? readFileSync(file) : undefined, index });
  if (loss === undefined) return { hasLostCommits: false, notices: [] };
  const copy = loss === 'missing' ? undefined : freeName(`${file}.damaged-${stamp}`);
  if (copy !== undefined) copyFileSync(file, copy);
  log.error({ copy }, `the log of the database is ${loss}; the newest changes are lost`);
  const kept = copy === undefined ? '' : ` It is kept as ${basename(copy)}.`;
  return {
    hasLostCommits: true,
    notices: [warn('changes_lost', `The log of the database was ${loss}, so the newest changes are lost.${kept}`)],
  };
}

class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
}

interface Prepared<T> {
  connection: Connection;
  prepared: T;
}

/**
 * Checks with a connection that cannot write. It stays open until the other one is ready: closing the last connection
 * would move the log into the file, and a damaged file must keep its bytes.
 */
function openChecked<T>(path: string, prepare: (connection: Connection) => T): Prepared<T> {
  if (!existsSync(path)) return openPrepared(path, prepare);
  if (statSync(path).size === 0) throw new DamagedFile('it is empty'); // SQLite would remove its log
  if (existsSync(`${path}-journal`)) rollBack(path);
  const reading = openReadingConnection(path);
  try {
    if (!isCleanlyStopped(reading)) check(reading);
    return openPrepared(path, prepare);
  } finally {
    reading.close();
  }
}

/** Lets SQLite undo a change that was interrupted outside the write-ahead log (a first start, a manual vacuum). */
function rollBack(path: string): void {
  const connection = openConnection(path);
  try {
    connection.all('select 1 from sqlite_schema');
  } finally {
    connection.close();
  }
}

/**
 * Of new files; existing ones keep theirs. A commit writes every changed page completely, and a piece of an answer
 * changes only some bytes (decision 53).
 */
const PAGE_BYTES = 1_024;

/** Opens a file that is known to be intact, or creates it. */
export function openPrepared<T>(path: string, prepare: (connection: Connection) => T): Prepared<T> {
  const connection = openConnection(path);
  try {
    connection.run(`pragma page_size = ${PAGE_BYTES}`);
    connection.run('pragma journal_mode = wal');
    return { connection, prepared: prepare(connection) };
  } catch (error) {
    connection.close();
    throw error;
  }
}

function check(connection: Connection): void {
  const [row] = connection.all('pragma quick_check(1)');
  if (row?.quick_check !== 'ok') throw new DamagedFile(`quick_check: ${String(row?.quick_check)}`);
}

/** Also if damage caused a migration to fail. */
function isDamage(error: unknown): boolean {
  if (error instanceof DamagedFile || faultOf(error) === 'damaged') return true;
  return error instanceof Error && faultOf(error.cause) === 'damaged';
}

/** Moves the log with a matching name, so that SQLite can still read both together. */
function setFilesAside(path: string, { index, stamp }: Surroundings): string {
  const aside = freeName(`${path}.damaged-${stamp}`);
  for (const suffix of ['', '-wal', '-journal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  rmSync(`${path}-shm`, { force: true });
  if (index !== undefined) writeFileSync(`${aside}-shm`, index, { mode: 0o600 });
  return aside;
}

/** The name itself or, if the file exists, the first of `<name>-2`, `<name>-3` … that is free. */
function freeName(name: string): string {
  let candidate = name;
  for (let n = 2; existsSync(candidate); n += 1) candidate = `${name}-${n}`;
  return candidate;
}
