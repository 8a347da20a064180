import { existsSync, renameSync } from 'node:fs';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { type Connection, openConnection } from './connection.ts';
import { freeName } from './free-name.ts';
import { faultOf } from './sqlite-errors.ts';
import { isCleanlyStopped } from './store-identity.ts';

/** A file that is whole, and the name under which a damaged one was put away before. */
export interface Opened<T> {
  connection: Connection;
  prepared: T;
  setAside: string | undefined;
}

/**
 * Opens a file and prepares it. One that is damaged keeps its content under another name and an empty one takes its
 * place; a file that only cannot be reached (rights, a full disk) is left alone and the error thrown.
 */
export function openUndamaged<T>(
  path: string,
  deps: { clock: Clock; log: Log; prepare(connection: Connection): T },
): Opened<T> {
  try {
    return { ...openChecked(path, deps.prepare), setAside: undefined };
  } catch (error) {
    if (!isDamage(error)) throw error;
    const setAside = setFileAside(path, deps.clock.now());
    deps.log.error({ err: error, setAside }, 'the database is damaged; it was set aside and an empty one made');
    return { ...openChecked(path, deps.prepare), setAside };
  }
}

class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
}

function openChecked<T>(path: string, prepare: (connection: Connection) => T): { connection: Connection; prepared: T } {
  const connection = openConnection(path);
  try {
    connection.run('pragma journal_mode = wal');
    if (!isCleanlyStopped(connection)) check(connection);
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

/** The write-ahead log goes along under the matching name, so that SQLite can still read the two together. */
function setFileAside(path: string, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const aside = freeName(`${path}.damaged-${stamp}`);
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  return aside;
}
