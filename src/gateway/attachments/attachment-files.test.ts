import { join } from 'node:path';
import { tempDir } from '../../testing/temp-store.ts';
import { attachmentFilesContract } from './attachment-files.contract.ts';
import { createAttachmentFiles } from './attachment-files.ts';

attachmentFilesContract('files of the home', async () => {
  const dir = tempDir();
  return {
    files: createAttachmentFiles(join(dir.path, 'attachments')),
    later: async () => undefined,
    [Symbol.asyncDispose]: async () => dir[Symbol.dispose](),
  };
});
