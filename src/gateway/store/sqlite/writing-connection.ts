import { UPSERT_META } from '../store-identity.ts';
import type { CheckpointWorker } from './checkpointer.ts';
import type { Connection } from './sqlite-connection.ts';

/** Runs checkpoints on the writing connection, for a store without a worker. */
export function localCheckpoint(connection: Connection): CheckpointWorker {
  return {
    async checkpoint(mode) {
      const [row] = connection.all(`pragma wal_checkpoint(${mode})`);
      return { busy: row?.busy === 1, walPages: Number(row?.log), movedPages: Number(row?.checkpointed) };
    },
    async close() {
      // the owner closes the connection
    },
  };
}

/** Throws when there is no room for a small group. A smaller probe could succeed in the rest of a page. */
export function probeDisk(connection: Connection): void {
  connection.run('begin immediate');
  try {
    connection.run(UPSERT_META, ['probe', ' '.repeat(PROBE_BYTES)]);
    connection.run('commit');
  } catch (error) {
    if (connection.database.isTransaction) connection.run('rollback');
    throw error;
  }
  connection.run("delete from meta where key = 'probe'");
}

const PROBE_BYTES = 65_536;
