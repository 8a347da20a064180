import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

interface StopDeps {
  /** Stops the daemon; resolves when everything is written. */
  stop(reason: string): Promise<void>;
  exit(code: number): void;
  clock: Clock;
  log: Log;
}

/** npm passes on a signal that the terminal has already sent to the whole group. */
const SAME_SIGNAL_MS = 1_000;
/** Short of the five seconds that whoever sent the signal may wait. */
const DEADLINE_MS = 4_500;
const INTERRUPTED = 130;

/** Decides what a signal does: the first one stops the daemon, a later one that is not its echo ends it at once. */
export function createStopSignals({ stop, exit, clock, log }: StopDeps): (signal: string) => void {
  let firstMs: number | undefined;
  return (signal) => {
    if (firstMs !== undefined) {
      if (clock.monotonic() - firstMs >= SAME_SIGNAL_MS) exit(INTERRUPTED);
      return;
    }
    firstMs = clock.monotonic();
    log.info({ signal }, 'stopping');
    const late = new AbortController();
    const stopped = stop(signal).then(
      () => exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        exit(1);
      },
    );
    void stopped.finally(() => late.abort());
    clock.sleep(DEADLINE_MS, late.signal).then(
      () => {
        log.error({}, 'not everything stopped in time; what was not acknowledged may be lost');
        exit(1);
      },
      () => undefined, // stopped in time
    );
  };
}
