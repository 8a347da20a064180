import { ConnectionLostError, RequestError } from '../../protocol/client/request-error.ts';

/** Attempts while the daemon is away, which take about ten minutes. */
const ATTEMPTS = 20;

/**
 * Repeats a call if the connection was lost before the answer. Only for calls that are safe to repeat: idempotent ones,
 * and those with an idempotency key.
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
