import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Adapter } from 'lowdb';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { hasCode, readPrivateFile } from './private-file.ts';

interface JsonDocumentOptions<T> {
  path: string;
  /** Throws when the value is not what the document holds. */
  parse(value: unknown): T;
  clock: Clock;
  log: Log;
}

/**
 * A small JSON file of this machine as a lowdb adapter: 0600, replaced as a whole, the version before kept as `.bak`. A
 * file that cannot be understood is set aside and reported; then the `.bak` counts, or nothing.
 */
export function jsonDocument<T>({ path, parse, clock, log }: JsonDocumentOptions<T>): Adapter<T> {
  const load = async (from: string): Promise<T | null> => {
    const text = await readPrivateFile(from);
    if (text === undefined) return null;
    try {
      return parse(JSON.parse(text));
    } catch {
      const aside = `${from}.corrupt-${clock.now()}`;
      await rename(from, aside);
      log.error({ path: from, aside }, 'a file could not be understood and was set aside');
      return null;
    }
  };
  return {
    read: async () => (await load(path)) ?? (await load(`${path}.bak`)),
    async write(data) {
      const temporary = `${path}.tmp`;
      await writeSynced(temporary, `${JSON.stringify(data, null, 2)}\n`);
      await keepPrevious(path, `${path}.bak`);
      await rename(temporary, path);
      await syncFolder(dirname(path));
    },
  };
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.chmod(0o600); // an old temporary file keeps its mode
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A second name instead of a copy: it needs no space, and a full disk cannot leave half of it. */
async function keepPrevious(path: string, previous: string): Promise<void> {
  const temporary = `${previous}.tmp`;
  await rm(temporary, { force: true });
  try {
    await link(path, temporary);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return; // the first write has nothing to keep
    throw error;
  }
  await rename(temporary, previous);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
