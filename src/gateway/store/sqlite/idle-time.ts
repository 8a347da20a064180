import type { Clock } from '../../../clock.ts';

/** Notices that nothing was written for a while, after enough was written. */
export interface IdleTime {
  wrote(bytes: number): void;
  /** Starts to wait, if enough was written since `settled`. */
  begin(): void;
  settled(): void;
  close(): void;
}

/** The file of a log that was this much in use is emptied after this time without a write. */
const IDLE = { bytes: 1_048_576, ms: 10_000 };

export function createIdleTime({ clock, onIdle }: { clock: Pick<Clock, 'sleep'>; onIdle(): void }): IdleTime {
  let bytes = 0;
  let wait: AbortController | undefined;
  return {
    wrote(more) {
      bytes += more;
      wait?.abort();
    },
    begin() {
      if (bytes < IDLE.bytes) return;
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
      bytes = 0;
    },
    close: () => wait?.abort(),
  };
}
