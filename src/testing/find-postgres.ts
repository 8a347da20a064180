import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** The folder of the newest installed version. Debian has no link to it among the programs of users. */
export async function findPostgres(): Promise<string | undefined> {
  const root = '/usr/lib/postgresql';
  const versions = await readdir(root).catch(() => []);
  const [newest] = versions
    .map(Number)
    .filter((version) => version >= 15)
    .sort((a, b) => b - a);
  return newest === undefined ? undefined : path.join(root, String(newest), 'bin');
}
