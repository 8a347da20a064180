import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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

test('a file that is not ours stays out of the list, so that the others can be removed', async () => {
  using dir = tempDir();
  const files = createAttachmentFiles(dir.path);
  await files.write('att_1', [Buffer.from('one')]);
  for (const name of ['.DS_Store', 'notes (copy).txt', 'att_2.part.part']) writeFileSync(join(dir.path, name), '');
  assert.deepEqual(await files.list(), ['att_1']);
  execFileSync('mkfifo', [join(dir.path, 'att_3')]);
  assert.equal(await files.open('att_3', 0), undefined, 'a pipe is not waited for');
});
