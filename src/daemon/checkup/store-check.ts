import { wordsOf } from '../../../protocol/words-of.ts';
import type { Environment } from '../../environment.ts';
import { plannedMigration } from '../../gateway/store/schema/migrations.ts';
import type { Connection } from '../../gateway/store/sqlite/sqlite-connection.ts';
import { requireWholeFile } from '../../gateway/store/store-identity.ts';
import { readMachineKeys } from '../../home/machine-key.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const UNUSABLE = 'A daemon of this version does not start with it.';

/** A problem if a daemon of this version would not start over this file of a home, which `all` reads. */
export function checkSchema(file: string, all: Connection['all']): Finding | undefined {
  try {
    plannedMigration({ all }, { path: file });
    requireWholeFile({ all }, file);
    return undefined;
  } catch (error) {
    return problem('database', wordsOf(error), UNUSABLE);
  }
}

/** Checks that the database of `store.url` can be reached and decrypted, and has the files of messages. */
export async function checkStore(
  url: string,
  { home, environment }: { home: string; environment: Environment },
): Promise<Finding> {
  const keys = (await readMachineKeys(home, environment).catch(() => [])).map(({ id }) => id); // the secrets' check reports it
  const { inspectPostgres } = await import('../../gateway/store/postgres/inspect-postgres.ts');
  try {
    const { text, missingFiles, refusal, neededKey } = await inspectPostgres(url);
    if (refusal !== undefined) return problem('database', refusal, UNUSABLE);
    if (neededKey !== undefined && !keys.includes(neededKey)) return wrongKey(text, neededKey, keys);
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

const wrongKey = (text: string, needed: string, keys: readonly string[]): Finding =>
  problem(
    'database',
    `the secrets of ${text} are encrypted with the key ${needed}, but headgate-key is missing or holds ${keys.join(' and ') || 'none'}`,
    'Copy headgate-key and token from the home that used the database before.',
  );
