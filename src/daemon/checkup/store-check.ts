import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem } from './finding.ts';

/** Checks that the database of `store.url` can be reached. */
export async function checkStore(url: string): Promise<Finding> {
  const { inspectPostgres } = await import('../../gateway/store/postgres/inspect-postgres.ts');
  try {
    return ok('database', await inspectPostgres(url));
  } catch (error) {
    return problem('database', wordsOf(error), 'Start the server, or correct store.url (or HEADGATE_STORE_URL).');
  }
}
