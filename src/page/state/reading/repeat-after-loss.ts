import { isUnanswered } from '../../../../protocol/client/is-unanswered.ts';

/** A call whose time is up is repeated before its connection counts as lost, and then once more. */
const ATTEMPTS = 3;

/** Repeats a call that got no answer. Only for calls that may run twice, and for those with an idempotency key. */
export async function repeatAfterLoss<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isUnanswered(error) || attempt >= ATTEMPTS) throw error;
    }
  }
}
