import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { wordsOf } from '../../../protocol/words-of.ts';
import { faultOf } from './sqlite/sqlite-errors.ts';

/** Proof that this process is the home's only daemon. Keep a reference to it until `release`. */
export interface HomeLock {
  /** Idempotent. */
  release(): void;
}

/**
 * Locks `<home>/daemon.lock` or throws. It is a lock of the file system and not a pid in a file: the kernel frees it
 * however the process ends, and no other process can be mistaken for its owner.
 */
export function lockHome(homeDir: string): HomeLock {
  const path = join(homeDir, 'daemon.lock');
  try {
    return lockFile(path);
  } catch (error) {
    if (faultOf(error) !== 'damaged') throw new Error(messageOf(error, homeDir), { cause: error });
  }
  // The file has no content. It is emptied and not removed, because another process with the same file must lock the
  // same inode.
  truncateSync(path);
  return lockHome(homeDir);
}

/** Whether a process has locked the home. */
export function isHomeLocked(homeDir: string): boolean {
  try {
    lockHome(homeDir).release();
    return false;
  } catch (error) {
    return error instanceof Error && faultOf(error.cause) === 'locked';
  }
}

function lockFile(path: string): HomeLock {
  const database = new DatabaseSync(path, { timeout: 0 });
  const release = () => {
    if (database.isOpen) database.close();
  };
  try {
    database.exec('begin exclusive');
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

function messageOf(error: unknown, homeDir: string): string {
  return faultOf(error) === 'locked'
    ? `Another Headgate daemon is using ${homeDir}. Stop it first, or give this one its own folder with --home.`
    : `Cannot lock ${join(homeDir, 'daemon.lock')}: ${wordsOf(error)}`;
}
