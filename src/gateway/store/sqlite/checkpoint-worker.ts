import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { CheckpointMode, CheckpointReply } from './checkpointer.ts';

// This thread waits for the disk instead of the event loop. It opens the file at the first request; by then the store
// has created, migrated or replaced it.
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
    // Short, because the daemon's writer waits while a restart waits for readers.
    database ??= new DatabaseSync(String(workerData), { timeout: 200 });
    const row = database.prepare(`pragma wal_checkpoint(${mode})`).get();
    return { busy: row?.busy === 1, walPages: Number(row?.log), movedPages: Number(row?.checkpointed) };
  } catch (error) {
    return { error: wordsOf(error) };
  }
}
