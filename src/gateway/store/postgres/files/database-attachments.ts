import type { AttachmentFiles } from '../../../attachments/attachment-files.ts';
import { requireId } from '../../../attachments/attachment-id.ts';
import { createStoredFiles, type FileRows } from './stored-files.ts';

/** The bytes of attachments in the database. */
export function createDatabaseAttachments(rows: FileRows): AttachmentFiles {
  const stored = createStoredFiles(rows, 'attachment');
  return {
    write: async (id, bytes) => stored.write(requireId(id), bytes),
    async open(id, size) {
      const file = await stored.open(requireId(id));
      return file?.size === size ? file : undefined;
    },
    remove: async (id) => stored.remove(requireId(id)),
    async list() {
      const found = await rows.read<{ file_id: string }>(UNNAMED, [rows.clock.now() - UPLOAD_MS]);
      return found.map(({ file_id }) => file_id);
    },
  };
}

/** How long a file may have no row yet: another daemon may be receiving it, of which this one's sweep knows nothing. */
const UPLOAD_MS = 86_400_000;

const UNNAMED = `select file_id from stored_files f where kind = 'attachment' and (was_named = 1 or created_ms < ?)
  and not exists (select 1 from attachments a where a.attachment_id = f.file_id) order by file_id`;
