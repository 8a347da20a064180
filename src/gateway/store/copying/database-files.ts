import type { Clock } from '../../../clock.ts';
import { createDatabaseAttachments } from '../postgres/files/database-attachments.ts';
import { createStoredFiles, type FileRows } from '../postgres/files/stored-files.ts';
import { sendAll, toQuery } from '../postgres/pipeline.ts';
import type { PostgresClient } from '../postgres/postgres-connection.ts';
import type { FilesOfSide } from './files-of-side.ts';
import { OUTPUT } from './home-files.ts';

/** The files in the database of a connection of which this process is the only user. */
export function filesOfDatabase(client: PostgresClient, clock: Clock): FilesOfSide {
  const rows = rowsOver(client, clock);
  const outputs = createStoredFiles(rows, 'output');
  const nameOf = (id: string) => `${id}${OUTPUT}`;
  return {
    attachments: createDatabaseAttachments(rows),
    outputs: {
      write: (id, bytes) => outputs.write(nameOf(id), bytes),
      async open(id, size) {
        const file = await outputs.open(nameOf(id));
        return file?.size === size ? file : undefined;
      },
      remove: (id) => outputs.remove(nameOf(id)),
      async list() {
        const found = await rows.read<{ file_id: string; size_bytes: number }>(LIST, []);
        return found.map(({ file_id, size_bytes }) => ({ id: file_id.slice(0, -OUTPUT.length), size: size_bytes }));
      },
    },
  };
}

const LIST = `select file_id, size_bytes from stored_files where kind = 'output' and size_bytes is not null order by file_id`;

const rowsOver = (client: PostgresClient, clock: Clock): FileRows => ({
  async commit(statements) {
    const results = await sendAll(client, [{ text: 'begin' }, ...statements.map(toQuery)]);
    const failed = results.find((result) => result.kind === 'failed');
    await client.query(failed ? 'rollback' : 'commit');
    if (failed) throw failed.error;
  },
  async read<R>(sql: string, parameters: readonly unknown[]): Promise<R[]> {
    const { rows } = await client.query<R & Record<string, unknown>>(toQuery({ sql, parameters }));
    return rows;
  },
  onDamage: () => undefined, // the copy counts such files
  clock,
});
