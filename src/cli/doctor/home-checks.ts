import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem, warning } from '../../daemon/checkup/finding.ts';
import { hasCode } from '../../home/private-file.ts';

/** Checks that the folder exists, belongs to this user and is closed to others. */
export async function checkHome(home: string, uid: number | undefined): Promise<Finding[]> {
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
    if ((mode & 0o077) === 0) return [ok(name, home), ...(await checkFiles(home))];
    const open = warning(name, `${home} is open to other users (mode ${mode.toString(8)})`, `chmod 700 '${home}'`);
    return [open, ...(await checkFiles(home))];
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [warning(name, `${home} does not exist yet`, 'The first start creates it.')];
    return [
      problem(name, `${home} cannot be used: ${wordsOf(error)}`, 'Fix its permissions, or choose another with --home.'),
    ];
  }
}

/** Files that only their owner may read; the secrets are checked by themselves. */
const PRIVATE_FILES = ['headgate.db'];

async function checkFiles(home: string): Promise<Finding[]> {
  const modes = await Promise.all(
    PRIVATE_FILES.map(async (file) => ({
      file,
      mode: await stat(path.join(home, file)).then(
        (found) => found.mode & 0o777,
        () => 0o600, // not created yet
      ),
    })),
  );
  const open = modes.filter(({ mode }) => (mode & 0o077) !== 0);
  return open.map(({ file, mode }) =>
    problem(
      'files',
      `${file} can be read by other users (mode ${mode.toString(8)})`,
      `chmod 600 '${path.join(home, file)}'`,
    ),
  );
}
