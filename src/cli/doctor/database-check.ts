import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem, warning } from '../../daemon/checkup/finding.ts';
import type { Checkup } from '../../daemon/checkup.ts';
import type { Environment } from '../../environment.ts';
import { readMachineKeys } from '../../home/machine-key.ts';

/** A larger database is not copied for the check. */
const COPIED_BYTES = 2 * 1_024 ** 3;

/** Checks the database for damage, without changing its files. Only for a database that no daemon has open. */
export async function checkDatabase(
  home: string,
  { environment, schema }: Pick<Checkup, 'schema'> & { environment: Environment },
): Promise<Finding> {
  const keys = (await readMachineKeys(home, environment).catch(() => [])).map(({ id }) => id); // the secrets' check reports it
  const name = 'database';
  const file = path.join(home, 'headgate.db');
  const [bytes, logBytes] = await Promise.all([sizeOf(file), sizeOf(`${file}-wal`)]);
  if (bytes === undefined) return ok(name, 'none yet: the first start creates it');
  // A killed daemon leaves a WAL that belongs to the database. SQLite would merge it on opening, so check a copy.
  if (logBytes === undefined || logBytes === 0) return readChecked(file, { file, keys, schema });
  if (bytes + logBytes > COPIED_BYTES) return ok(name, 'not checked: too large; the next start checks it');
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-doctor-'));
  try {
    const copy = path.join(folder, 'headgate.db');
    await Promise.all(['', '-wal'].map((suffix) => copyFile(file + suffix, copy + suffix)));
    return readChecked(copy, { file, keys, schema, remark: 'its daemon was killed, but nothing is missing' });
  } catch (error) {
    return warning(
      name,
      `could not be copied for the check: ${wordsOf(error)}`,
      'Free some space in the folder for temporary files.',
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined, // the file does not exist
  );

/** The key of the machine that the database needs; undefined if it has no secrets. */
function neededKey(database: DatabaseSync): string | undefined {
  const hasKeys = database.prepare("select 1 from sqlite_schema where name = 'store_keys'").get() !== undefined;
  const row = hasKeys ? database.prepare('select machine_id from store_keys').get() : undefined;
  return row === undefined ? undefined : String(row.machine_id);
}

interface CheckedFile extends Pick<Checkup, 'schema'> {
  /** The file of the home. */
  file: string;
  /** The ids of the machine's keys. */
  keys: readonly string[];
  remark?: string;
}

function readChecked(place: string, { file, keys, schema, remark = '' }: CheckedFile): Finding {
  const name = 'database';
  const mend = 'The next start renames it and creates an empty one. Copy it first.';
  try {
    const url = pathToFileURL(place);
    if (remark === '') url.search = 'immutable=1'; // no lock, no files next to it
    using database = new DatabaseSync(url, { readOnly: remark === '' });
    const row = database.prepare('pragma quick_check(1)').get();
    const said = String(row?.quick_check);
    if (said !== 'ok') return problem(name, `damaged: ${said}`, mend);
    const unusable = schema(file, (sql, parameters = []) => database.prepare(sql).all(...parameters.map(String)));
    if (unusable) return unusable;
    const needed = neededKey(database);
    if (needed === undefined || keys.includes(needed)) return ok(name, ['intact', remark].filter(Boolean).join('; '));
    return problem(
      name,
      `its secrets are encrypted with the key ${needed}, but headgate-key is missing or holds ${keys.join(' and ') || 'none'}`,
      'Restore headgate-key from the backup that the database is from. If it is lost, see headgate start --new-secrets.',
    );
  } catch (error) {
    return problem(name, `cannot be read: ${wordsOf(error)}`, mend);
  }
}
