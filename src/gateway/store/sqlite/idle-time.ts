import type { Clock } from '../../../clock.ts';
import { createSingleWait } from '../../../timing/single-wait.ts';

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

export function createIdleTime({ clock, onIdle }: { clock: Pick<Clock, 'sleep'>; onIdle(): void }): IdleTime {
  let mostBytes = 0;
  const wait = createSingleWait(clock);
  return {
    interrupt: wait.end,
    begin(logBytes) {
      wait.end();
      mostBytes = Math.max(mostBytes, logBytes); // the file keeps its size when the log restarts
      if (mostBytes >= IDLE.bytes) wait.begin(IDLE.ms, onIdle);
    },
    settled() {
      mostBytes = 0;
    },
    close: wait.end,
  };
}
