import { GatewayError } from '../../../protocol/errors.ts';
import type { Step } from './recorder.ts';
import type { RunContext } from './run-context.ts';

const RETRY_MS = 1_000;

/**
 * Records what has happened already and must not be forgotten: while the store takes no writes it is tried again each
 * second, also after a cancel. Rejects when the daemon stops meanwhile, and with whatever else `record` rejects.
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

/** The store takes no writes at the moment. */
export const isUnavailable = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'UNAVAILABLE';
