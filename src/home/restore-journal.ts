import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const JOURNAL = 'restoring.json';

/** Exists while a restore moves the files of the home. Nothing may read them before the restore is complete. */
export const restoreJournal = (home: string): string => join(home, JOURNAL);

/** How the names of the folders begin into which restores unpack. */
export const STAGED = '.restore-';

export const isStaged = (name: string): boolean => name.startsWith(STAGED);

/** Whether a restore is at work, or was killed. */
export function hasRestore(home: string): boolean {
  try {
    return readdirSync(home).some((name) => isStaged(name) || name === JOURNAL);
  } catch {
    return false; // reported when the home is opened
  }
}
