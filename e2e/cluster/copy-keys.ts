import { copyFile } from 'node:fs/promises';
import path from 'node:path';

/** Gives a home the keys of another one, as an operator does for a standby. */
export async function copyKeys(from: string, to: string): Promise<void> {
  for (const file of ['headgate-key', 'token']) await copyFile(path.join(from, file), path.join(to, file));
}
