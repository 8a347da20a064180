import { ConnectionLostError, RequestError } from '../../../../protocol/client/request-error.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';

/** The message of a failed call. A missing right is named as such; roles may have changed since the page was drawn. */
export function refusalOf(error: unknown): string {
  if (error instanceof ConnectionLostError) return LOST;
  if (!(error instanceof RequestError) || error.code !== 'FORBIDDEN') return wordsOf(error);
  return `You are not allowed to do this: ${error.message.replace(/^Forbidden: /, '')}.`;
}

const LOST = 'The connection was lost before the answer. Check whether this took effect before you try again.';

/** Runs an action. Returns an error message, or undefined on success. */
export async function attempt(run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
}
