import { constants } from 'node:fs';
import { access, chmod, mkdir, stat } from 'node:fs/promises';
import { wordsOf } from '../../protocol/words-of.ts';
import { StartError } from '../start-error.ts';

/** Makes the home folder, for its owner only. The answer says what was changed about an existing one. */
export async function openHomeFolder(home: string): Promise<string[]> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return await makePrivate(home);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const reason = wordsOf(error);
    throw new StartError(`The home folder ${home} cannot be used: ${reason}. Choose another with --home.`, {
      cause: error,
    });
  }
}

async function makePrivate(home: string): Promise<string[]> {
  const { mode, uid } = await stat(home);
  const open = mode & 0o077;
  if (uid !== process.getuid?.()) {
    throw new StartError(`The home folder ${home} belongs to another user. Choose another with --home.`);
  }
  if (open === 0) return [];
  await chmod(home, mode & 0o700);
  return [`The home folder ${home} was open to other users (mode ${(mode & 0o777).toString(8)}); now only to you.`];
}
