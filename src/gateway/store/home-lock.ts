import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { faultOf } from './sqlite-errors.ts';

/** Proof that this process is the home's only daemon; keep it referenced until `release`. */
export interface HomeLock {
  /** Idempotent. */
  release(): void;
}

/**
 * Takes `<home>/daemon.lock` or throws. A lock of the file system, not a pid in a file: the kernel frees it however
 * the process ends, and no other process can be taken for its owner.
 */
export function lockHome(homeDir: string): HomeLock {
  const path = join(homeDir, 'daemon.lock');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('begin exclusive');
  } catch (error) {
    if (database?.isOpen) database.close();
    throw new Error(messageOf(error, homeDir), { cause: error });
  }
  const held = database;
  return {
    release() {
      if (held.isOpen) held.close();
    },
  };
}

function messageOf(error: unknown, homeDir: string): string {
  return faultOf(error) === 'locked'
    ? `Another Headgate daemon is using ${homeDir}. Stop it first, or give this one its own folder with --home.`
    : `Cannot lock ${join(homeDir, 'daemon.lock')}: ${error instanceof Error ? error.message : String(error)}`;
}
