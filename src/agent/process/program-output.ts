import type { Readable } from 'node:stream';
import type { Clock } from '../../clock.ts';

/** The output of a program while it is read. */
interface Reading {
  /** Resolves at the end of the output, read or abandoned. */
  ended: Promise<void>;
  /** Rejects when the reader does; never resolves. */
  failed: Promise<never>;
  /** Counts the chunks read. `isBusy` is true while one is being handed over. */
  chunks(): number;
  isBusy(): boolean;
}

/** Reads the output to its end. The program waits while a chunk is handed over. */
export function readAll(output: Readable, onOutput: (bytes: Buffer) => Promise<void>): Reading {
  let chunks = 0;
  let isBusy = false;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined); // still rejects for everyone who awaits it
  const read = async () => {
    for await (const bytes of output) {
      chunks += 1;
      isBusy = true;
      await onOutput(bytes).catch((error) => {
        failed.reject(error);
        throw error;
      });
      isBusy = false;
    }
  };
  const ended = read().catch(() => undefined); // destroyed by `drain`, or reported through `failed`
  return { ended, failed: failed.promise, chunks: () => chunks, isBusy: () => isBusy };
}

const DRAIN_QUIET_MS = 100;
const DRAIN_ROUNDS = 20;

/**
 * Waits for the end of the pipe. A process that left the group may still hold the pipe open; after some quiet rounds it
 * is closed.
 */
export async function drain(reading: Reading, { output, clock }: { output: Readable; clock: Clock }): Promise<void> {
  let seen = -1;
  let isOver = false;
  const over = reading.ended.then(() => {
    isOver = true;
  });
  for (let round = 0; round < DRAIN_ROUNDS && !isOver && (reading.isBusy() || seen !== reading.chunks()); round += 1) {
    seen = reading.chunks();
    const waited = new AbortController();
    await Promise.race([over, clock.sleep(DRAIN_QUIET_MS, waited.signal).catch(() => undefined)]); // aborted just below
    waited.abort();
  }
  output.destroy();
  await over;
}
