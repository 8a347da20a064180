import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Names this run of the machine's kernel: another one after an unclean stop means that the power was lost. Where the
 * system has no such name the answer never changes.
 */
export async function readBootId(file = '/proc/sys/kernel/random/boot_id'): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    return readSessionUuid(); // no Linux
  }
}

async function readSessionUuid(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], {
      timeout: 2_000,
    });
    return stdout.trim() || 'unknown';
  } catch {
    return 'unknown'; // no macOS either
  }
}
