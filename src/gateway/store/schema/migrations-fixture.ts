import { join } from 'node:path';
import { recordingLog, tempDir } from '../../../testing/temp-store.ts';
import { type Connection, openConnection } from '../sqlite/sqlite-connection.ts';
import { MIGRATIONS, migrate } from './migrations.ts';

/** The schema of the first release. */
export const FIRST = MIGRATIONS.slice(0, 1);

/** Inserts an event of workstream `a` with the checksum of later versions. Parameters: offset and JSON text. */
export const OLD_EVENT = `insert into events select 'a', ?1, ?2, 5, event_checksum('a', ?1, ?2, 5)`;

/** A file of the first version, removed when the test ends. */
export function openVersion1(t: { after(fn: () => void): void }): { connection: Connection; path: string } {
  const dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const connection = openConnection(path);
  t.after(() => {
    connection.close();
    dir[Symbol.dispose]();
  });
  migrate(connection, { path, log: recordingLog(), migrations: FIRST });
  return { connection, path };
}
