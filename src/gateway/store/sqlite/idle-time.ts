import type { Clock } from '../../../clock.ts';

/** Notices that nothing was written for a while, after the log was large. */
export interface IdleTime {
  /** Something was written, so a wait ends. */
  interrupt(): void;
  /** Starts to wait, if the log had enough bytes since `settled`. */
  begin(logBytes: number): void;
  settled(): void;
  close(): void;
}

/** The file of a log that was this much in use is emptied after this time without a write. */
const IDLE = { bytes: 1_048_576, ms: 10_000 };

/** Given as a reason, because an exception with its stack would be made for every write. */
const BUSY = 'the store is in use';

export function createIdleTime({ clock, onIdle }: { clock: Pick<Clock, 'sleep'>; onIdle(): void }): IdleTime {
  let mostBytes = 0;
  let wait: AbortController | undefined;
  return {
    interrupt: () => wait?.abort(BUSY),
    begin(logBytes) {
      wait?.abort(BUSY);
      mostBytes = Math.max(mostBytes, logBytes); // the file keeps its size when the log restarts
      if (mostBytes < IDLE.bytes) return;
      const own = new AbortController();
      wait = own;
      clock.sleep(IDLE.ms, own.signal).then(
        () => {
          if (!own.signal.aborted) onIdle();
        },
        () => undefined, // something was written, or the store was closed
      );
    },
    settled() {
      mostBytes = 0;
    },
    close: () => wait?.abort(BUSY),
  };
}
