import { rename } from 'node:fs/promises';
import type { Adapter } from 'lowdb';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { readPrivateFile } from './private-file.ts';
import { replaceFile } from './replace-file.ts';

interface JsonDocumentOptions<T> {
  path: string;
  /** Throws when the value is not what the document holds. */
  parse(value: unknown): T;
  clock: Clock;
  log: Log;
  /** Hears under which name a file that cannot be understood was kept. */
  onSetAside?(aside: string): void;
}

/**
 * A small JSON file of this machine as a lowdb adapter: 0600, replaced as a whole, the version before kept as `.bak`. A
 * file that cannot be understood is set aside and reported; then the `.bak` counts, or nothing.
 */
export function jsonDocument<T>({ path, parse, clock, log, onSetAside }: JsonDocumentOptions<T>): Adapter<T> {
  const load = async (from: string): Promise<T | null> => {
    const text = await readPrivateFile(from);
    if (text === undefined) return null;
    try {
      return parse(JSON.parse(text));
    } catch {
      const aside = `${from}.corrupt-${clock.now()}`;
      await rename(from, aside);
      log.error({ path: from, aside }, 'a file could not be understood and was set aside');
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
