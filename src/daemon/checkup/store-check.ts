import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Checks that the database of `store.url` can be reached, and has the files of messages. */
export async function checkStore(url: string): Promise<Finding> {
  const { inspectPostgres } = await import('../../gateway/store/postgres/inspect-postgres.ts');
  try {
    const { text, missingFiles } = await inspectPostgres(url);
    if (missingFiles === 0) return ok('database', text);
    return warning(
      'database',
      `${text} has no bytes for ${missingFiles} files of messages`,
      'Restore the database from a backup, if it had them. Conversations go on without them.',
    );
  } catch (error) {
    return problem('database', wordsOf(error), 'Start the server, or correct store.url (or HEADGATE_STORE_URL).');
  }
}
