import { isUnanswered } from './is-unanswered.ts';
import { NotConnectedError } from './request-error.ts';

/**
 * Makes a call that may do something each time, such as the command `/undo`. Without an answer nobody knows whether it has
 * done it, so it is not repeated: the error tells the person, who decides.
 */
export async function askOnce<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isUnanswered(error) || error instanceof NotConnectedError) throw error;
    throw new Error(UNANSWERED, { cause: error });
  }
}

const UNANSWERED = 'No answer came, so this may have been carried out. Look before you send it again.';
