import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../../testing/temp-store.ts';
import { createCheckpointThread } from './checkpoint-thread.ts';
import {
  type CheckpointMode,
  type CheckpointResult,
  type CheckpointWorker,
  createCheckpointer,
  WorkerGone,
} from './checkpointer.ts';

const url = new URL('./checkpoint-worker.ts', import.meta.url);
const MIB = 1_048_576;

test('the log is moved a second after the first write, once', async () => {
  const { checkpointer, clock, calls } = setUp();
  checkpointer.wrote(100);
  await clock.advance(999);
  checkpointer.wrote(100);
  const before = [...calls];
  await clock.advance(5_000);
  assert.deepEqual({ before, after: calls }, { before: [], after: ['worker passive'] });
  await checkpointer.close();
});

test('the log is moved once enough was written', async () => {
  const { checkpointer, calls } = setUp();
  checkpointer.wrote(5 * MIB);
  assert.deepEqual(calls, ['worker passive']);
  await checkpointer.close();
});

test('what may wait is moved with something else, or once enough was written', async () => {
  const { checkpointer, clock, calls } = setUp();
  checkpointer.wrote(100, true);
  checkpointer.wrote(0, true);
  await clock.advance(59_000);
  const alone = [...calls];
  checkpointer.wrote(100);
  checkpointer.wrote(100, true);
  await clock.advance(1_000);
  checkpointer.wrote(5 * MIB, true);
  await clock.advance(0);
  assert.deepEqual({ alone, calls }, { alone: [], calls: ['worker passive', 'worker passive'] });
  await checkpointer.close();
});

test('a large log is forced to restart, although all of it was moved', async () => {
  const { checkpointer, calls } = setUp({ result: { busy: false, walPages: 20_000, movedPages: 20_000 } });
  checkpointer.wrote(5 * MIB);
  await checkpointer.close();
  assert.deepEqual(calls, ['worker passive', 'worker passive', 'worker restart', 'worker close']);
});

test('the file of the log is emptied after ten seconds without a write, once, if it is large', async () => {
  const result = { busy: false, walPages: 1, movedPages: 1 };
  const { checkpointer, clock, calls } = setUp({ result });
  checkpointer.wrote(100);
  await clock.advance(1_000);
  await clock.advance(60_000);
  assert.deepEqual(calls, ['worker passive'], 'a small file stays');
  result.walPages = 500;
  checkpointer.wrote(5 * MIB);
  await clock.advance(9_000);
  result.walPages = 1;
  checkpointer.wrote(100);
  await clock.advance(1_000);
  await clock.advance(9_999);
  assert.deepEqual(calls.slice(1), ['worker passive', 'worker passive'], 'a write restarts the time');
  await clock.advance(60_000);
  checkpointer.wrote(100);
  await clock.advance(1_000);
  await clock.advance(60_000);
  assert.deepEqual(calls.slice(3), ['worker truncate', 'worker passive']);
  await checkpointer.close();
});

test('a file that could not be emptied is tried again in the next idle time', async () => {
  const { checkpointer, clock, calls } = setUp({ result: { busy: true, walPages: 500, movedPages: 500 } });
  checkpointer.wrote(5 * MIB);
  await clock.advance(0);
  await clock.advance(60_000);
  checkpointer.wrote(100);
  await clock.advance(1_000);
  await clock.advance(60_000);
  assert.deepEqual(calls, ['worker passive', 'worker truncate', 'worker passive', 'worker truncate']);
  await checkpointer.close();
});

test('a worker that has ended is logged once and replaced by rare checkpoints of the writer', async () => {
  const { checkpointer, clock, calls, log } = setUp({ fails: () => new WorkerGone('ended') });
  checkpointer.wrote(5 * MIB);
  await clock.advance(0);
  checkpointer.wrote(5 * MIB);
  await clock.advance(29_999);
  const early = [...calls];
  await clock.advance(1);
  assert.deepEqual(
    { early, calls, lines: log.lines },
    {
      early: ['worker passive'],
      calls: ['worker passive', 'fallback passive'],
      lines: [['warn', 'the checkpoint worker failed; continuing without it']],
    },
  );
  await checkpointer.close();
});

test('a full disk is logged once, and the worker retries until the log is moved', async () => {
  let isFull = true;
  const { checkpointer, clock, calls, log } = setUp({ fails: () => (isFull ? new Error('disk is full') : undefined) });
  checkpointer.wrote(5 * MIB);
  checkpointer.wrote(5 * MIB);
  await clock.advance(0);
  await clock.advance(2_500);
  isFull = false;
  await clock.advance(60_000);
  assert.deepEqual(
    { calls, lines: log.lines },
    {
      calls: Array(4).fill('worker passive'),
      lines: [['warn', 'a checkpoint failed; retrying until one succeeds']],
    },
  );
  await checkpointer.close();
});

test('the log is not moved while it is emptied, but afterwards', async () => {
  const emptied = Promise.withResolvers<void>();
  const { checkpointer, clock, calls } = setUp({ until: (mode) => mode === 'truncate' && emptied.promise });
  checkpointer.wrote(100);
  await clock.advance(999);
  const emptying = checkpointer.empty();
  await clock.advance(60_000);
  const during = [...calls];
  emptied.resolve();
  const isEmpty = await emptying;
  await clock.advance(1_000);
  assert.deepEqual(
    { during, isEmpty, calls },
    { during: ['worker truncate'], isEmpty: true, calls: ['worker truncate', 'worker passive'] },
  );
  await checkpointer.close();
});

test('nothing is moved after the close', async () => {
  const { checkpointer, clock, calls } = setUp();
  checkpointer.wrote(100);
  await checkpointer.close();
  await clock.advance(5_000);
  assert.deepEqual(calls, ['worker close']);
});

test('the thread moves the log of a store into its file, and ends with it', async () => {
  using dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const thread = createCheckpointThread({ url, clock: fakeClock(), path });
  const store = await tempStore({ path, checkpoint: thread });
  const sizeBefore = statSync(path).size;
  await store.commit({ events: { wsId: 'a', events: [{ type: 'info', message: 'x'.repeat(100_000) }] } });
  const passive = await thread.checkpoint('passive');
  const [restart, truncate] = await Promise.all([thread.checkpoint('restart'), thread.checkpoint('truncate')]);
  const sizeAfter = statSync(`${path}-wal`).size;
  await store.commit({ events: { wsId: 'a', events: [{ type: 'info', message: 'more' }] } });
  const events = await store.readEvents('a', 0, 10);
  await store.close();
  assert.deepEqual([truncate.busy, sizeAfter, events.length], [false, 0, 2]);
  assert.equal(passive.walPages > 25 && passive.movedPages === passive.walPages, true);
  assert.equal(restart.busy, false);
  assert.equal(statSync(path).size > sizeBefore + 100_000, true);
  await assert.rejects(thread.checkpoint('passive'), /ended with code 0/);
});

test('a thread ends after a minute without a checkpoint, and the next checkpoint starts another', async () => {
  using dir = tempDir();
  const path = join(dir.path, 'headgate.db');
  const clock = fakeClock();
  const started: Worker[] = [];
  const note = (worker: Worker) => void started.push(worker);
  process.on('worker', note);
  const thread = createCheckpointThread({ url, path, clock });
  const store = await tempStore({ path, checkpoint: thread });
  await thread.checkpoint('passive');
  await clock.advance(59_000);
  await thread.checkpoint('passive');
  const usedByBoth = started.length;
  const ended = started.map((worker) => once(worker, 'exit'));
  await clock.advance(60_000);
  await Promise.all(ended);
  await thread.checkpoint('passive');
  process.off('worker', note);
  await store.close();
  assert.deepEqual({ usedByBoth, all: started.length }, { usedByBoth: 1, all: 2 });
});

test('a thread that cannot open the file reports it and can be closed', async () => {
  using dir = tempDir();
  const thread = createCheckpointThread({ url, clock: fakeClock(), path: join(dir.path, 'missing', 'headgate.db') });
  await assert.rejects(thread.checkpoint('passive'), /unable to open database file/);
  await thread.close();
});

test('a thread whose file is missing fails its calls, and closing it is not an error', async () => {
  const thread = createCheckpointThread({
    url: new URL('../no-such-file.js', import.meta.url),
    path: 'unused',
    clock: fakeClock(),
  });
  await assert.rejects(thread.checkpoint('passive'));
  await thread.close();
});

interface Setting {
  result?: CheckpointResult;
  fails?: () => Error | undefined;
  /** What a checkpoint waits for. */
  until?: (mode: CheckpointMode) => Promise<void> | false;
}

function setUp(options: Setting = {}) {
  const calls: string[] = [];
  const clock = fakeClock();
  const log = recordingLog();
  const toWorker = (name: string, fails: () => Error | undefined = () => undefined): CheckpointWorker => ({
    async checkpoint(mode) {
      calls.push(`${name} ${mode}`);
      const failure = fails();
      if (failure) throw failure;
      await options.until?.(mode);
      return options.result ?? { busy: false, walPages: 1, movedPages: 1 };
    },
    async close() {
      calls.push(`${name} close`);
    },
  });
  const checkpointer = createCheckpointer({
    worker: toWorker('worker', options.fails),
    fallback: toWorker('fallback'),
    clock,
    log,
    maxWalBytes: 64 * MIB,
    pageBytes: 4_096,
  });
  return { checkpointer, clock, log, calls };
}
