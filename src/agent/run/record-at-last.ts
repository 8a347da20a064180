import { isUnavailable } from '../../is-unavailable.ts';
import type { Step } from './recorder.ts';
import type { RunContext } from './run-context.ts';

const RETRY_MS = 1_000;

/**
 * Records something that has already happened and must not be lost. Retries every second while the store cannot be
 * written, even after a cancel. Rejects when the daemon stops, and with any other error of `record`.
 */
export async function recordAtLast(
  run: Pick<RunContext, 'recorder' | 'clock' | 'stopping'>,
  toStep: () => Step,
): Promise<void> {
  for (;;) {
    try {
      return await run.recorder.record(toStep());
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
    await run.clock.sleep(RETRY_MS, run.stopping);
  }
}
