import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * An id of this boot of the machine. If it differs after an unclean stop, the machine lost power. On a system without such
 * an id, the result never changes.
 */
export async function readBootId(file = '/proc/sys/kernel/random/boot_id'): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    return readSessionUuid(); // not Linux
  }
}

async function readSessionUuid(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], {
      timeout: 2_000,
    });
    return stdout.trim() || 'unknown';
  } catch {
    return 'unknown'; // not macOS either
  }
}
