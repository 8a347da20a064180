import { readdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';

/** Removes the stored outputs of commands that were last written before a time; a folder that is not there has none. */
export async function removeOldOutputs(folder: string, beforeMs: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const file = path.join(folder, name);
    const stats = await stat(file);
    if (stats.isFile() && stats.mtimeMs < beforeMs) await unlink(file);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []; // made with the first output
    throw error;
  }
}
