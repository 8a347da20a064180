import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem, warning } from '../../finding.ts';

/** More than this is not copied only to be looked at. */
const COPIED_BYTES = 2 * 1_024 ** 3;

/** Whether the database is whole. Only for one that no daemon has open; the files are left as they are. */
export async function checkDatabase(home: string): Promise<Finding> {
  const name = 'database';
  const file = path.join(home, 'headgate.db');
  const [bytes, logBytes] = await Promise.all([sizeOf(file), sizeOf(`${file}-wal`)]);
  if (bytes === undefined) return ok(name, 'none yet: the first start makes it');
  // With a log left by a killed daemon only both together are whole, and SQLite would tidy up when it opens them.
  if (logBytes === undefined || logBytes === 0) return readChecked(file);
  if (bytes + logBytes > COPIED_BYTES) return ok(name, 'not looked at: too large; the next start looks at it');
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-doctor-'));
  try {
    const copy = path.join(folder, 'headgate.db');
    await Promise.all(['', '-wal'].map((suffix) => copyFile(file + suffix, copy + suffix)));
    return readChecked(copy, 'its daemon was killed, and nothing is missing');
  } catch (error) {
    return warning(
      name,
      `could not be copied to be looked at: ${wordsOf(error)}`,
      'Make room in the folder for temporary files.',
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined, // there is none
  );

function readChecked(file: string, remark = ''): Finding {
  const name = 'database';
  const mend = 'The next start puts it aside under another name and begins an empty one. Copy it first.';
  try {
    const url = pathToFileURL(file);
    if (remark === '') url.search = 'immutable=1'; // no lock, no files beside it
    using database = new DatabaseSync(url, { readOnly: remark === '' });
    const row = database.prepare('pragma quick_check(1)').get();
    const said = String(row?.quick_check);
    return said === 'ok'
      ? ok(name, ['whole', remark].filter(Boolean).join('; '))
      : problem(name, `damaged: ${said}`, mend);
  } catch (error) {
    return problem(name, `cannot be read: ${wordsOf(error)}`, mend);
  }
}
