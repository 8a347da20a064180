export { type Backup, makeBackup } from './backup/make-backup.ts';
export type { Manifest } from './backup/manifest.ts';
export { checkBackup, restoreBackup } from './backup/restore-backup.ts';
