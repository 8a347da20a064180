import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Timers } from '../../../../protocol/client/timers.ts';
import type { Graphics } from './graphics.ts';
import type { Room } from './image-rows.ts';

export interface ImageTask {
  bytes: Uint8Array;
  graphics: Graphics;
  room: Room;
}

/** What the worker gets. */
export interface WorkerTask extends ImageTask {
  /** The address of the code that decodes WebP. */
  webp: string;
}

interface Port {
  /** Where image-worker lies in this build. */
  workerUrl: URL;
  /** Where the code that decodes WebP lies. */
  webpUrl: URL;
  timers: Pick<Timers, 'after'>;
}

const DEADLINE_MS = 10_000;

/**
 * The rows of `toImageRows`, made by a worker: decoding takes up to a second, in which nobody could type. Undefined for an
 * image that this program cannot read, or that takes too long or too much memory.
 */
export async function drawImage(task: ImageTask, { workerUrl, webpUrl, timers }: Port): Promise<string[] | undefined> {
  const workerData: WorkerTask = { ...task, bytes: Uint8Array.from(task.bytes), webp: webpUrl.href };
  const worker = new Worker(workerUrl, {
    workerData,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const ended = new AbortController();
  const cancel = timers.after(DEADLINE_MS, () => ended.abort());
  const { signal } = ended;
  try {
    // `once` throws for an error of the worker.
    const drawn = once(worker, 'message', { signal }).then(([rows]: (string[] | undefined)[]) => rows);
    return await Promise.race([drawn, once(worker, 'exit', { signal }).then(() => undefined)]);
  } catch {
    return undefined;
  } finally {
    cancel();
    ended.abort();
    await worker.terminate();
  }
}
