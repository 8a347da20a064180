import type { Clock } from '../clock.ts';
import { EXIT } from '../exit-codes.ts';
import type { Log } from '../log.ts';

interface StopDeps {
  /** Stops the daemon; resolves when everything is written. */
  stop(reason: string): Promise<void>;
  exit(code: number): void;
  clock: Clock;
  log: Log;
}

/** Within this time it is the same signal: npm passes on what the terminal has sent to the whole process group. */
const SAME_SIGNAL_MS = 1_000;
/** Less than the five seconds that a service manager or a person may wait. */
const DEADLINE_MS = 4_500;

/** Handles signals: the first one stops the daemon, and a later one ends the process at once, unless it is the same. */
export function createStopSignals({ stop, exit, clock, log }: StopDeps): (signal: string) => void {
  let firstMs: number | undefined;
  return (signal) => {
    if (firstMs !== undefined) {
      if (clock.monotonic() - firstMs >= SAME_SIGNAL_MS) exit(EXIT.interrupted);
      return;
    }
    firstMs = clock.monotonic();
    log.info({ signal }, 'stopping');
    const late = new AbortController();
    const stopped = stop(signal).then(
      () => exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        exit(EXIT.failed);
      },
    );
    void stopped.finally(() => late.abort());
    clock.sleep(DEADLINE_MS, late.signal).then(
      () => {
        log.error({}, 'not everything stopped in time; unacknowledged work may be lost');
        exit(EXIT.failed);
      },
      () => undefined, // stopped in time
    );
  };
}
