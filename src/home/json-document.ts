import { rename } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { readPrivateFile } from './private-file.ts';
import { replaceFile } from './replace-file.ts';

/** The file can be read, but not used. Somebody wrote it so, and has to decide about it: reading it fails. */
export class DocumentRefused extends Error {
  override readonly name = 'DocumentRefused';
}

interface JsonDocumentOptions<T> {
  path: string;
  /** Throws if the value does not fit the document; a DocumentRefused if the file must stay where it is. */
  parse(value: unknown, path: string): T;
  clock: Clock;
  log: Log;
  /** Receives the new name of a file that was set aside. */
  onSetAside?(aside: string): void;
}

/**
 * A small JSON file as a lowdb adapter: mode 0600, replaced atomically, with the previous version kept as `.bak`. A
 * malformed file is renamed and reported; then the `.bak` is used, if it is valid.
 */
export function jsonDocument<T>({ path, parse, clock, log, onSetAside }: JsonDocumentOptions<T>): Adapter<T> {
  const load = async (from: string): Promise<T | null> => {
    const text = await readPrivateFile(from);
    if (text === undefined) return null;
    try {
      return parse(JSON.parse(text), from);
    } catch (error) {
      if (error instanceof DocumentRefused) throw error;
      const aside = `${from}.corrupt-${clock.now()}`;
      await rename(from, aside);
      log.error({ path: from, aside }, 'a malformed file was set aside');
      onSetAside?.(aside);
      return null;
    }
  };
  return {
    read: async () => (await load(path)) ?? (await load(`${path}.bak`)),
    async write(data) {
      await replaceFile(path, `${JSON.stringify(data, null, 2)}\n`);
    },
  };
}
