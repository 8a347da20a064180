import { constants } from 'node:fs';
import { type FileHandle, open, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem, warning } from '../../daemon/checkup/finding.ts';
import { hasCode } from '../../home/private-file.ts';

interface Clocks {
  now(): number;
  monotonic(): number;
}

const MIB = 1_048_576;
const [LITTLE_MIB, TOO_LITTLE_MIB] = [1_024, 100];
const SLOW_SYNC_MS = 50;
const SYNCS = 10;
const WRITTEN = Buffer.alloc(MIB);
/** Linux's O_TMPFILE: a file that has no name and is gone when it is closed. */
const NAMELESS = 0o20000000 | constants.O_DIRECTORY;

/** The nearest existing folder, which is on the disk of the home, even before the home is created. */
export async function findFolder(folder: string): Promise<string> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false, // not there yet
  );
  return isFolder || folder === path.dirname(folder) ? folder : findFolder(path.dirname(folder));
}

/** Checks free space, the speed of durable writes, and whether the file system's clock agrees with the machine's. */
export async function checkDisk(home: string, clocks: Clocks): Promise<Finding[]> {
  const folder = await findFolder(home);
  return [await checkSpace(folder), ...(await checkWriting(folder, clocks))];
}

async function checkSpace(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const freeMib = Math.floor((bavail * bsize) / MIB);
  const text = freeMib > 10 * LITTLE_MIB ? `${Math.floor(freeMib / 1024)} GiB free` : `${freeMib} MiB free`;
  if (freeMib < TOO_LITTLE_MIB) return problem('disk', text, 'Free some space: without it nothing can be saved.');
  return freeMib < LITTLE_MIB ? warning('disk', text, 'Free some space soon.') : ok('disk', text);
}

async function checkWriting(folder: string, clocks: Clocks): Promise<Finding[]> {
  let file: FileHandle | undefined;
  try {
    file = await open(folder, constants.O_RDWR | NAMELESS, 0o600);
    const beganMs = clocks.monotonic();
    for (let i = 0; i < SYNCS; i += 1) {
      await file.write(WRITTEN);
      await file.sync();
    }
    const syncMs = (clocks.monotonic() - beganMs) / SYNCS;
    const skewSecs = Math.round(Math.abs((await file.stat()).mtimeMs - clocks.now()) / 1000);
    return [toSpeed(syncMs), toSkew(skewSecs)];
  } catch (error) {
    const isUnknown = ['EOPNOTSUPP', 'EISDIR', 'EINVAL'].some((code) => hasCode(error, code));
    if (isUnknown) return [ok('speed', 'not measured: this file system has no unnamed files')];
    return [
      problem(
        'speed',
        `nothing can be written: ${wordsOf(error)}`,
        'Fix the permissions of the folder, or free some space.',
      ),
    ];
  } finally {
    await file?.close();
  }
}

function toSpeed(syncMs: number): Finding {
  const text = `${syncMs.toFixed(1)} ms to write 1 MiB durably`;
  return syncMs > SLOW_SYNC_MS
    ? warning('speed', text, 'Every answer waits for the disk: use a faster one.')
    : ok('speed', text);
}

function toSkew(skewSecs: number): Finding {
  const text = `the file system’s clock is ${skewSecs} s off`;
  return skewSecs > 5
    ? warning('clock', text, 'Is it a network disk? Set both clocks by NTP.')
    : ok('clock', 'agrees with the file system');
}

const EARLIEST_MS = Date.UTC(2025, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);

/** Checks whether the time is plausible. */
export function checkYear(nowMs: number, daemonMs: number | undefined): Finding[] {
  const mend = 'Set the machine’s clock (timedatectl set-ntp true).';
  if (nowMs < EARLIEST_MS || nowMs > LATEST_MS) {
    return [problem('clock', `the machine thinks it is the year ${new Date(nowMs).getUTCFullYear()}`, mend)];
  }
  const skewSecs = daemonMs === undefined ? 0 : Math.round(Math.abs(nowMs - daemonMs) / 1000);
  return skewSecs > 5 ? [warning('clock', `the daemon’s clock is ${skewSecs} s off`, mend)] : [];
}
