import { stat } from 'node:fs/promises';
import path from 'node:path';
import { createAttachmentFiles } from '../../attachments/attachment-files.ts';
import type { FilesOfSide } from './files-of-side.ts';

/** The files of a store whose database is a file of the home. */
export function filesOfHome(home: string): FilesOfSide {
  const folder = path.join(home, 'outputs');
  const outputs = createAttachmentFiles(folder, { ending: OUTPUT });
  return {
    attachments: createAttachmentFiles(path.join(home, 'attachments')),
    outputs: {
      ...outputs,
      async list() {
        const found = [];
        for (const id of await outputs.list()) {
          const stats = await stat(path.join(folder, `${id}${OUTPUT}`)).catch(() => undefined); // an unfinished one
          if (stats?.isFile()) found.push({ id, size: stats.size });
        }
        return found;
      },
    },
  };
}

/** Of the names of outputs. */
export const OUTPUT = '.log';
