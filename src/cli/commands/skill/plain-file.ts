import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * The bytes of a file; undefined if it is missing, unreadable, no plain file, or larger. A folder of others may have a pipe, which
 * would be waited for without end, or a link to a device that never ends.
 */
export async function readPlainFile(file: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    return stats.isFile() && stats.size <= maxBytes ? await handle.readFile() : undefined;
  } catch {
    return undefined; // missing or unreadable
  }
}
