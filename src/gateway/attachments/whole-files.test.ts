import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { test } from 'node:test';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { createWholeFiles } from './whole-files.ts';

const ATTACHMENT: Attachment = {
  ...{ attachment_id: 'att_1', filename: 'a', mime_type: 'text/plain', size_bytes: 3, kind: 'text' },
};
const FAILURE = Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });

test('a file that cannot be read is logged and counts as missing', async () => {
  const log = recordingLog();
  const files = createWholeFiles({ log, files: { open: () => Promise.reject(FAILURE) } });
  assert.deepEqual(
    [await files.open(ATTACHMENT), await files.read(ATTACHMENT), await files.sort([ATTACHMENT])],
    [undefined, undefined, { whole: [], damaged: [ATTACHMENT] }],
  );
  assert.deepEqual(new Set(log.lines.map(([, line]) => line)), new Set(['the file of an attachment cannot be read']));
});

test('a file that fails during reading counts as missing, and is closed', async () => {
  const log = recordingLog();
  const file = await open(import.meta.filename);
  file.readFile = () => Promise.reject(FAILURE);
  const files = createWholeFiles({ log, files: { open: async () => file } });
  assert.deepEqual([await files.read(ATTACHMENT), file.fd, log.lines.length], [undefined, -1, 1]);
});
