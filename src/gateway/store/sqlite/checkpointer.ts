import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';
import { createSingleWait } from '../../../timing/single-wait.ts';
import { createIdleTime } from './idle-time.ts';

/**
 * `restart` also waits until no reader needs the write-ahead log, so that the log is written from its beginning again.
 * `truncate` also empties its file.
 */
export type CheckpointMode = 'passive' | 'restart' | 'truncate';

/** The pages in the write-ahead log, and how many of them have been moved to the database file. */
export interface CheckpointResult {
  busy: boolean;
  walPages: number;
  movedPages: number;
}

/** The reply of the worker's thread. */
export type CheckpointReply = CheckpointResult | { error: string };

/** Moves the write-ahead log into the database file, one call after the other. */
export interface CheckpointWorker {
  /** Rejects with WorkerGone when later calls cannot succeed either. */
  checkpoint(mode: CheckpointMode): Promise<CheckpointResult>;
  close(): Promise<void>;
}

/** The thread has ended. */
export class WorkerGone extends Error {
  override readonly name = 'WorkerGone';
}

export interface CheckpointLimits {
  /** The time after the first write that was not moved yet. */
  afterMs: number;
  /** Or as soon as about this much was written. */
  afterBytes: number;
}

/** Decides when the write-ahead log is moved. */
export interface Checkpointer {
  /** `mayWait`: alone, it is not moved until much was written. */
  wrote(bytes: number, mayWait?: boolean): void;
  /** Moves everything and empties the log now. False if a reader needs it, or the disk fails. */
  empty(): Promise<boolean>;
  close(): Promise<void>;
}

const WORKER_LIMITS: CheckpointLimits = { afterMs: 1_000, afterBytes: 4 * 1_048_576 };
/** A checkpoint on the writing connection blocks the event loop, so it is rare. */
const FALLBACK_LIMITS: CheckpointLimits = { afterMs: 30_000, afterBytes: 32 * 1_048_576 };

/** What was written and not moved yet. */
const NOTHING = { bytes: 0, isUrgent: false };

const limitsOf = (worker: CheckpointWorker | undefined): CheckpointLimits => (worker ? WORKER_LIMITS : FALLBACK_LIMITS);

interface CheckpointerDeps {
  worker: CheckpointWorker | undefined;
  fallback: CheckpointWorker;
  clock: Clock;
  log: Log;
  /** Beyond this size, a log that is constantly written is forced to restart. */
  maxWalBytes: number;
  pageBytes: number;
}

/**
 * Uses `worker` until it is gone, then `fallback`. A failed checkpoint (a full disk) is logged once and retried until
 * it succeeds. It costs only disk space.
 */
export function createCheckpointer(deps: CheckpointerDeps): Checkpointer {
  const stop = new AbortController();
  let { worker } = deps;
  let pending = NOTHING;
  let isFailing = false;
  const wait = createSingleWait(deps.clock);
  let running: Promise<void> | undefined;

  const settled = (): void => {
    running = undefined;
    if (isFailing || pending.bytes > 0) schedule();
  };
  const start = (): void => {
    wait.end();
    pending = NOTHING;
    running = checkpoint(worker ?? deps.fallback, deps)
      .then((logBytes) => {
        isFailing = false;
        if (!stop.signal.aborted) idle.begin(logBytes);
      }, onFailure)
      .finally(settled);
  };
  const onFailure = (err: unknown): void => {
    if (err instanceof WorkerGone) worker = undefined;
    if (err instanceof WorkerGone) deps.log.warn({ err }, 'the checkpoint worker failed; continuing without it');
    else if (!isFailing) deps.log.warn({ err }, 'a checkpoint failed; retrying until one succeeds');
    isFailing = true;
  };
  const truncate = (): Promise<boolean> => {
    wait.end(); // otherwise the wait could end during this checkpoint and start another
    const emptied = isEmptied(worker ?? deps.fallback);
    running = emptied.then((isEmpty) => {
      if (isEmpty) idle.settled();
      settled();
    });
    return emptied;
  };
  const idle = createIdleTime({
    clock: deps.clock,
    // A checkpoint that is still in progress ends in another idle time.
    onIdle: () => void (running ?? truncate()),
  });
  const schedule = (): void => {
    if (stop.signal.aborted) return;
    if (pending.bytes >= limitsOf(worker).afterBytes && !isFailing) start();
    else if (!wait.isRunning && (pending.isUrgent || isFailing)) wait.begin(limitsOf(worker).afterMs, start);
  };
  return {
    async empty() {
      while (running !== undefined) await running; // the worker does one thing at a time
      return truncate();
    },
    wrote(bytes, mayWait = false) {
      pending = { bytes: pending.bytes + bytes, isUrgent: pending.isUrgent || !mayWait };
      if (!mayWait) idle.interrupt();
      if (!running) schedule();
    },
    async close() {
      stop.abort();
      wait.end();
      idle.close();
      await running;
      await deps.worker?.close();
    },
  };
}

/**
 * Under constant writing the log would never restart by itself, because there is always a commit since the last
 * checkpoint. A restart blocks the writer while it moves the remaining pages, so two passive checkpoints before it
 * leave few pages. Returns how large the log was.
 */
async function checkpoint(
  worker: CheckpointWorker,
  { maxWalBytes, pageBytes }: { maxWalBytes: number; pageBytes: number },
): Promise<number> {
  const { walPages } = await worker.checkpoint('passive');
  const logBytes = walPages * pageBytes;
  if (logBytes <= maxWalBytes) return logBytes;
  await worker.checkpoint('passive');
  await worker.checkpoint('restart');
  return logBytes;
}

/** Best effort: a failure costs only disk space, and the next idle time tries again. */
const isEmptied = (worker: CheckpointWorker): Promise<boolean> =>
  worker.checkpoint('truncate').then(
    ({ busy }) => !busy,
    () => false,
  );
