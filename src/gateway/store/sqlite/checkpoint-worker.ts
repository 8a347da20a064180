import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { CheckpointMode, CheckpointReply } from './checkpointer.ts';

// The thread that waits for the disk, so that the event loop need not. Opened by the first request: by then the store
// has made, migrated or replaced the file.
let database: DatabaseSync | undefined;

parentPort?.on('message', (request: CheckpointMode | 'close') => {
  if (request === 'close') {
    database?.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(reply(request));
});

function reply(mode: CheckpointMode): CheckpointReply {
  try {
    // Short: while a restart waits for readers, the daemon's writer waits for it.
    database ??= new DatabaseSync(String(workerData), { timeout: 200 });
    const row = database.prepare(`pragma wal_checkpoint(${mode})`).get();
    return { busy: row?.busy === 1, walPages: Number(row?.log), movedPages: Number(row?.checkpointed) };
  } catch (error) {
    return { error: wordsOf(error) };
  }
}
