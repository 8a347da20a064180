import { ConnectionLostError, RequestError } from '../../protocol/client/request-error.ts';

/** Of a call that is repeated while the daemon is away: about ten minutes. */
const ATTEMPTS = 20;

/**
 * Calls again when the connection died before the answer. For what is harmless twice: calls under an idempotency key, and
 * those that only say what is to be.
 */
export async function untilAnswered<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      const isLost =
        error instanceof ConnectionLostError || (error instanceof RequestError && error.code === 'TIMEOUT');
      if (!isLost || attempt >= ATTEMPTS) throw error;
    }
  }
}
