import { join } from 'node:path';

/** Exists while a restore moves the files of the home. Nothing may read them before the restore is complete. */
export const restoreJournal = (home: string): string => join(home, 'restoring.json');
