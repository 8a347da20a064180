import type { StoredOutputs } from '../../../../agent/outputs/stored-outputs.ts';
import { createStoredFiles, type FileRows } from './stored-files.ts';

/** The long outputs of tools in the database. */
export function createDatabaseOutputs(rows: FileRows): StoredOutputs {
  const { write, open, readPart } = createStoredFiles(rows, 'output');
  return {
    write,
    open,
    readPart,
    async removeOld(beforeMs) {
      for (;;) {
        const found = await rows.read<{ file_id: string }>(OLD, [beforeMs, AT_ONCE]);
        if (found.length === 0) return;
        await rows.commit(found.map(({ file_id }) => ({ sql: REMOVE, parameters: [file_id] })));
      }
    },
  };
}

/** An output has up to 64 MiB, and all of its pieces are removed in one transaction. */
const AT_ONCE = 10;

const OLD = `select file_id from stored_files where kind = 'output' and created_ms < ? order by created_ms limit ?`;
const REMOVE = `delete from stored_files where kind = 'output' and file_id = ?`;
