import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem, warning } from '../../daemon/checkup/finding.ts';
import { hasCode } from '../../home/private-file.ts';

/**
 * Checks that the folder exists, belongs to this user and is closed to others. `hasServer`: the database is on a server, so
 * that a file of it is a former one.
 */
export async function checkHome(
  home: string,
  { uid, hasServer }: { uid: number | undefined; hasServer: boolean },
): Promise<Finding[]> {
  const name = 'home';
  try {
    const found = await stat(home);
    if (!found.isDirectory())
      return [problem(name, `${home} is not a folder`, 'Move it away, or choose another with --home.')];
    if (uid !== undefined && found.uid !== uid) {
      return [problem(name, `${home} belongs to another user`, 'Run as that user, or choose another with --home.')];
    }
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const mode = found.mode & 0o777;
    if ((mode & 0o077) === 0) return [ok(name, home), ...(await checkFiles(home, hasServer))];
    const open = warning(name, `${home} is open to other users (mode ${mode.toString(8)})`, `chmod 700 '${home}'`);
    return [open, ...(await checkFiles(home, hasServer))];
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [warning(name, `${home} does not exist yet`, 'The first start creates it.')];
    return [
      problem(name, `${home} cannot be used: ${wordsOf(error)}`, 'Fix its permissions, or choose another with --home.'),
    ];
  }
}

const DATABASE = 'headgate.db';

/** The database holds secrets, also a former one; the other files with secrets are checked by themselves. */
async function checkFiles(home: string, hasServer: boolean): Promise<Finding[]> {
  const file = path.join(home, DATABASE);
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => undefined, // not created yet
  );
  if (mode === undefined) return [];
  const isOpen = (mode & 0o077) !== 0;
  const what = `${DATABASE} can be read by other users (mode ${mode.toString(8)})`;
  if (!hasServer) return isOpen ? [problem('files', what, `chmod 600 '${file}'`)] : [];
  if (isOpen) return [warning('files', `the former ${what}`, `chmod 600 '${file}', or remove it.`)];
  return [ok('files', `${DATABASE} is left from before store.url was set; nothing uses it`)];
}
