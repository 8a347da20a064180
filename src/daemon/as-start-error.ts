import { wordsOf } from '../../protocol/words-of.ts';
import { StartError } from '../start-error.ts';

/** Reports a problem with the machine or its files in one line. */
export async function asStartError<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StartError(wordsOf(error), { cause: error });
  }
}
