import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const Package = z.object({ version: z.string() });

/** Headgate's version, from package.json. */
export async function readVersion(root: URL): Promise<string> {
  return Package.parse(JSON.parse(await readFile(new URL('package.json', root), 'utf8'))).version;
}
