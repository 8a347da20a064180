import { readFile } from 'node:fs/promises';
import { isRecord } from '../protocol/is-record.ts';

/** Headgate's version, from package.json. Checked by hand: a schema library would slow the start of every command. */
export async function readVersion(root: URL): Promise<string> {
  const read: unknown = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  if (isRecord(read) && typeof read.version === 'string') return read.version;
  throw new Error(`${new URL('package.json', root).pathname} has no version.`);
}
