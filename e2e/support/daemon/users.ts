import { stat } from 'node:fs/promises';
import path from 'node:path';

export interface User {
  /** For titles of tests. */
  who: string;
  /** Undefined: whoever runs the tests. */
  uid: number | undefined;
  /** Why a daemon of this user cannot be started here. */
  skip: string | false;
}

/** Anybody who is neither root nor a user of this machine. */
const STRANGER = 54_321;

/** Whose daemon is tested: the user's who runs the tests, and if that is root, another one's too. */
export const users: readonly User[] = await findUsers();

async function findUsers(): Promise<User[]> {
  if (process.getuid?.() !== 0) return [{ who: 'as this user', uid: undefined, skip: false }];
  // Another user can start a daemon only from a repository and by a Node that it may read.
  const isReadable = (await isOpenTo(import.meta.dirname)) && (await isOpenTo(process.execPath));
  return [
    { who: 'as root', uid: undefined, skip: false },
    { who: 'as another user', uid: STRANGER, skip: isReadable ? false : 'the repository is private to root' },
  ];
}

async function isOpenTo(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  return (mode & 0o005) === 0o005 && (folder === '/' || isOpenTo(path.dirname(folder)));
}
