import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Notice, warn } from '../../../../protocol/notice.ts';
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { freeName } from '../free-name.ts';
import { isCleanlyStopped } from '../store-identity.ts';
import { type Connection, openConnection, openReadingConnection } from './sqlite-connection.ts';
import { faultOf } from './sqlite-errors.ts';
import { findLogLoss } from './write-ahead-log.ts';

/** A file that is whole, and what was found damaged before it was. */
export interface Opened<T> {
  connection: Connection;
  prepared: T;
  damage: Damage;
}

/** What a start found. */
export interface Damage {
  /** The name under which a damaged database was put away. */
  setAside?: string;
  /** Commits are missing that the daemon before has answered. */
  hasLostCommits: boolean;
  notices: Notice[];
}

interface OpeningDeps<T> {
  clock: Clock;
  log: Log;
  prepare(connection: Connection, damage: Damage): T;
}

/**
 * Opens a file and prepares it. One that is damaged keeps its bytes under another name and an empty one takes its
 * place, and of a damaged log a copy is kept; a file that only cannot be reached (rights, a full disk) is left alone
 * and the error thrown.
 */
export function openUndamaged<T>(path: string, deps: OpeningDeps<T>): Opened<T> {
  const stamp = new Date(deps.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
  const index = existsSync(`${path}-shm`) ? readFileSync(`${path}-shm`) : undefined; // every opening makes it anew
  const damage = keepDamagedLog(path, { index, stamp, log: deps.log });
  try {
    return { ...openChecked(path, (connection) => deps.prepare(connection, damage)), damage };
  } catch (err) {
    if (!isDamage(err)) throw err;
    const setAside = setFilesAside(path, { index, stamp });
    deps.log.error({ err, setAside }, 'the database is damaged; it was set aside and an empty one made');
    const notice = `The database was damaged. It is kept as ${basename(setAside)}, and an empty one was made.`;
    const found = { setAside, hasLostCommits: true, notices: [warn('database_set_aside', notice)] };
    return { ...openPrepared(path, (connection) => deps.prepare(connection, found)), damage: found };
  }
}

interface Surroundings {
  index: Buffer | undefined;
  stamp: string;
}

/** SQLite goes on behind the part of a log that it understands, and overwrites the rest. */
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
 * The check is made by a connection that cannot write. It stays until the other one is ready: the last connection that
 * is closed moves the log into the file, and a damaged one is to keep its bytes.
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

/** A change that was interrupted outside the write-ahead log (a first start, a vacuum by hand) is undone by SQLite. */
function rollBack(path: string): void {
  const connection = openConnection(path);
  try {
    connection.all('select 1 from sqlite_schema');
  } finally {
    connection.close();
  }
}

function openPrepared<T>(path: string, prepare: (connection: Connection) => T): Prepared<T> {
  const connection = openConnection(path);
  try {
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

/** Also when it is the cause of a failed migration. */
function isDamage(error: unknown): boolean {
  if (error instanceof DamagedFile || faultOf(error) === 'damaged') return true;
  return error instanceof Error && faultOf(error.cause) === 'damaged';
}

/** The log goes along under the matching name, so that SQLite can still read the two together. */
function setFilesAside(path: string, { index, stamp }: Surroundings): string {
  const aside = freeName(`${path}.damaged-${stamp}`);
  for (const suffix of ['', '-wal', '-journal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  rmSync(`${path}-shm`, { force: true });
  if (index !== undefined) writeFileSync(`${aside}-shm`, index, { mode: 0o600 });
  return aside;
}
