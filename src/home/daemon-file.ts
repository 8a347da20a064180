import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { hasCode } from './private-file.ts';

const DaemonFile = z.object({
  /** The address of this home's daemon. */
  url: z.url({ protocol: /^https?$/ }),
  pid: z.int().positive(),
  /** ISO 8601. */
  startedAt: z.string(),
});
/** Tells other processes of this machine where the daemon is. A killed daemon leaves the file behind. */
export type DaemonFile = z.infer<typeof DaemonFile>;

/** Undefined if the file is missing or malformed. */
export async function readDaemonFile(home: string): Promise<DaemonFile | undefined> {
  try {
    return DaemonFile.safeParse(JSON.parse(await readFile(fileIn(home), 'utf8'))).data;
  } catch (error) {
    if (NOT_THERE.some((code) => hasCode(error, code)) || error instanceof SyntaxError) return undefined;
    throw error;
  }
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
