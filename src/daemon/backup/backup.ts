export { type Backup, makeBackup } from './make-backup.ts';
export type { Manifest } from './manifest.ts';
export { checkBackup, restoreBackup } from './restore-backup.ts';
