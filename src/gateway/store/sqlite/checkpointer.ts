import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log.ts';

/** `restart` also waits until no reader needs the write-ahead log, so that it is used from its beginning again. */
export type CheckpointMode = 'passive' | 'restart';

/** Pages in the write-ahead log, and how many of them are in the database file now. */
export interface CheckpointResult {
  busy: boolean;
  walPages: number;
  movedPages: number;
}

/** What the worker's thread answers. */
export type CheckpointReply = CheckpointResult | { error: string };

/** Someone who moves the write-ahead log into the database file; one call at a time. */
export interface CheckpointWorker {
  /** Rejects with WorkerGone when no later call can succeed either. */
  checkpoint(mode: CheckpointMode): Promise<CheckpointResult>;
  close(): Promise<void>;
}

/** The thread has ended. */
export class WorkerGone extends Error {
  override readonly name = 'WorkerGone';
}

export interface CheckpointLimits {
  /** So long after the first write that is not moved yet. */
  afterMs: number;
  /** Or as soon as about this much was written. */
  afterBytes: number;
}

/** Decides when the write-ahead log is moved. */
export interface Checkpointer {
  wrote(bytes: number): void;
  close(): Promise<void>;
}

const WORKER_LIMITS: CheckpointLimits = { afterMs: 1_000, afterBytes: 4 * 1_048_576 };
/** On the writing connection a checkpoint stalls the loop, so it is rare. */
const FALLBACK_LIMITS: CheckpointLimits = { afterMs: 30_000, afterBytes: 32 * 1_048_576 };
const PAGE_BYTES = 4_096;

/**
 * Uses `worker` until it is gone, then `fallback`. A checkpoint that fails (a full disk) is logged once, costs nothing but
 * disk space, and is tried again until it succeeds.
 */
export function createCheckpointer(deps: {
  worker: CheckpointWorker | undefined;
  fallback: CheckpointWorker;
  clock: Clock;
  log: Log;
  /** Beyond this size a log that writers keep busy is made to start anew. */
  maxWalBytes: number;
}): Checkpointer {
  const stop = new AbortController();
  let { worker } = deps;
  let pendingBytes = 0;
  let isFailing = false;
  let wait: AbortController | undefined;
  let running: Promise<void> | undefined;

  const limits = (): CheckpointLimits => (worker ? WORKER_LIMITS : FALLBACK_LIMITS);
  const start = (): void => {
    wait?.abort();
    wait = undefined;
    pendingBytes = 0;
    running = checkpoint(worker ?? deps.fallback, deps.maxWalBytes)
      .then(() => {
        isFailing = false;
      }, onFailure)
      .finally(() => {
        running = undefined;
        if (isFailing) sleepThenStart();
        else if (pendingBytes > 0) schedule();
      });
  };
  const onFailure = (err: unknown): void => {
    const isGone = err instanceof WorkerGone;
    if (isGone) deps.log.warn({ err }, 'the checkpoint worker failed; going on without it');
    else if (!isFailing) deps.log.warn({ err }, 'a checkpoint failed; trying again until one succeeds');
    if (isGone) worker = undefined;
    isFailing = true;
  };
  const schedule = (): void => {
    if (stop.signal.aborted) return;
    if (pendingBytes >= limits().afterBytes && !isFailing) start();
    else if (!wait) sleepThenStart();
  };
  const sleepThenStart = (): void => {
    if (stop.signal.aborted) return;
    const own = new AbortController();
    wait = own;
    deps.clock.sleep(limits().afterMs, own.signal).then(
      () => {
        if (!own.signal.aborted) start();
      },
      () => undefined, // the size came first, or the store was closed
    );
  };
  return {
    wrote(bytes) {
      pendingBytes += bytes;
      if (!running) schedule();
    },
    async close() {
      stop.abort();
      wait?.abort();
      await running;
      await deps.worker?.close();
    },
  };
}

/**
 * Under steady writing the log never starts anew by itself: there is always a commit since the last pass. A restart
 * keeps the writer waiting while it moves the rest, so two passes go before it that leave it little to move.
 */
async function checkpoint(worker: CheckpointWorker, maxWalBytes: number): Promise<void> {
  const { walPages } = await worker.checkpoint('passive');
  if (walPages * PAGE_BYTES <= maxWalBytes) return;
  await worker.checkpoint('passive');
  await worker.checkpoint('restart');
}
