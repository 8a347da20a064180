import { wordsOf } from '../../../protocol/words-of.ts';
import type { Clock } from '../../clock.ts';
import type { Environment } from '../../environment.ts';
import type { StoreFacts } from '../../gateway/store/postgres/lease/candidate.ts';
import { plannedMigration } from '../../gateway/store/schema/migrations.ts';
import type { Connection } from '../../gateway/store/sqlite/sqlite-connection.ts';
import { requireWholeFile } from '../../gateway/store/store-identity.ts';
import { COPY_SECRETS, otherSecrets } from '../life/same-secrets.ts';
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

/** Checks that the database of `store.url` can be reached, and has the files of messages. */
export async function checkStore(url: string): Promise<Finding> {
  const { inspectPostgres } = await import('../../gateway/store/postgres/inspect-postgres.ts');
  try {
    const { text, missingFiles, refusal } = await inspectPostgres(url);
    if (refusal !== undefined) return problem('database', refusal, UNUSABLE);
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

/** Compares the clock of this machine with that of the database of `store.url`. */
export async function checkClocks(url: string, clock: Pick<Clock, 'now' | 'monotonic'>): Promise<Finding[]> {
  const { MOST_LEAD_MS, readLeadOver } = await import('../../gateway/store/postgres/inspect-postgres.ts');
  const aheadMs = await readLeadOver(url, clock).catch(() => undefined); // `checkStore` says that it cannot be reached
  if (aheadMs === undefined) return [];
  if (Math.abs(aheadMs) <= MOST_LEAD_MS) return [ok('clock', 'agrees with the database')];
  const text = `this machine is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database`;
  return [warning('clock', text, 'Set the clocks of all machines by NTP (timedatectl set-ntp true).')];
}

interface CheckedHome {
  home: string;
  environment: Environment;
}

/** Compares the secrets of this home with those of the other homes that use the database of `store.url`. */
export async function checkSameSecrets(own: CheckedHome, url: string): Promise<Finding[]> {
  const { readStoreFacts } = await import('../../gateway/store/postgres/inspect-postgres.ts');
  const facts = await readStoreFacts(url).catch((): StoreFacts => ({})); // `checkStore` says that it cannot be reached
  if (facts.machineKeyId === undefined && facts.tokenDigest === undefined) return [];
  const name = 'same keys';
  const others = await otherSecrets(own, facts);
  if (others.length === 0) return [ok(name, 'the key and the token are those of the database')];
  return others.map((text) => problem(name, text, COPY_SECRETS));
}
