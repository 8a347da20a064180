import { isUnanswered } from '../../protocol/client/is-unanswered.ts';

/** Attempts while the daemon is away, which take about ten minutes. */
const ATTEMPTS = 20;

/**
 * Repeats a call that got no answer. Only for calls that are safe to repeat: idempotent ones,
 * and those with an idempotency key.
 */
export async function untilAnswered<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isUnanswered(error) || attempt >= ATTEMPTS) throw error;
    }
  }
}
