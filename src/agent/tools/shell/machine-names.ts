import { lstatSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { NameReader } from '../../permissions/resolve-links.ts';
import { createLooks, promptLooks } from '../files/file-looks.ts';

/**
 * The names on this machine. On local disks most are found at once, which saves a trip through Node's threads per call of
 * a command. A folder or file that cannot be read has no names that a command could use.
 */
export function createMachineNames(): NameReader {
  const looks = createLooks();
  const isLocal = async (folder: string) => (await looks.at(folder)) === promptLooks;
  return {
    async realpath(file) {
      const found = (await isLocal(path.dirname(file))) ? findAtOnce(file) : 'later';
      return found === 'later' ? realpath(file).catch(() => undefined) : found;
    },
    list: (folder) => readdir(folder).catch(() => []),
  };
}

/** A way without links is the real path. Links are not followed at once: they may lead to a disk that does not answer. */
function findAtOnce(file: string): string | 'later' | undefined {
  const plain = path.resolve(file);
  if (plain !== file) return 'later'; // `..` after a link does not lead back
  try {
    for (let end = plain.indexOf('/', 1); ; end = plain.indexOf('/', end + 1)) {
      const stats = lstatSync(end === -1 ? plain : plain.slice(0, end), { throwIfNoEntry: false });
      if (stats === undefined) return undefined;
      if (stats.isSymbolicLink()) return 'later';
      if (end === -1) return plain;
    }
  } catch {
    return undefined; // out of reach
  }
}
