import type { Clock } from '../clock.ts';

/** A wait of which there is at most one at a time. */
export interface SingleWait {
  readonly isRunning: boolean;
  /** Ends a wait that is running, and calls `onEnd` after this time unless the new one is ended before. */
  begin(ms: number, onEnd: () => void): void;
  end(): void;
}

/** Given as a reason, because an exception with its stack would be made for every wait. */
const ENDED = 'the wait is over';

export function createSingleWait(clock: Pick<Clock, 'sleep'>): SingleWait {
  let current: AbortController | undefined;
  const end = (): void => {
    current?.abort(ENDED);
    current = undefined;
  };
  return {
    get isRunning() {
      return current !== undefined;
    },
    begin(ms, onEnd) {
      end();
      const own = new AbortController();
      current = own;
      const passed = (): void => {
        if (own.signal.aborted) return; // it was ended in the same turn
        current = undefined;
        onEnd();
      };
      clock.sleep(ms, own.signal).then(passed, () => undefined);
    },
    end,
  };
}
