import { ConnectionLostError } from '../../../../protocol/client/request-error.ts';

/**
 * Repeats a call once if the connection was lost before the answer. Only for calls that may run twice, and for those with an
 * idempotency key.
 */
export async function repeatAfterLoss<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ConnectionLostError)) throw error;
    return run();
  }
}
