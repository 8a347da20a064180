import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../../protocol/is-record.ts';
import { hasCode, readPlainFile } from './private-file.ts';

/** Tells other processes of this machine where the daemon is. A killed daemon leaves the file behind. */
export interface DaemonFile {
  /** The address of this home's daemon. */
  url: string;
  pid: number;
  /** ISO 8601. */
  startedAt: string;
  /** Why the program that was to take over from this daemon could not. */
  failure?: string | undefined;
}

/** Undefined if the file is missing or malformed. */
export async function readDaemonFile(home: string): Promise<DaemonFile | undefined> {
  try {
    const read: unknown = JSON.parse(await readPlainFile(fileIn(home)));
    return toDaemonFile(read);
  } catch (error) {
    if (NOT_THERE.some((code) => hasCode(error, code)) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Checked by hand: every command reads the file, and a schema library would slow its start. */
function toDaemonFile(read: unknown): DaemonFile | undefined {
  if (!isRecord(read)) return undefined;
  const { url, pid, startedAt, failure } = read;
  if (typeof url !== 'string' || !['http:', 'https:'].includes(URL.parse(url)?.protocol ?? '')) return undefined;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (typeof startedAt !== 'string') return undefined;
  return { url, pid, startedAt, ...(typeof failure === 'string' && { failure }) };
}

/** Replaces the file atomically: a reader sees the old text or the new one. */
export async function writeDaemonFile(home: string, daemon: DaemonFile): Promise<void> {
  const temporary = `${fileIn(home)}.${daemon.pid}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(daemon)}\n`, { mode: 0o600 });
    await rename(temporary, fileIn(home));
  } finally {
    await rm(temporary, { force: true }); // a full disk leaves an empty file
  }
}

/** Removes the file if it belongs to the daemon `pid`. */
export async function removeDaemonFile(home: string, pid: number): Promise<void> {
  if ((await readDaemonFile(home))?.pid === pid) await rm(fileIn(home), { force: true });
}

const fileIn = (home: string) => path.join(home, 'daemon.json');

/** ENOTDIR: the home is not a folder. */
const NOT_THERE = ['ENOENT', 'ENOTDIR'];
