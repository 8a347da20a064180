import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { hasCode } from './private-file.ts';

const DaemonFile = z.object({
  /** Where the daemon of this home answers. */
  url: z.url({ protocol: /^https?$/ }),
  pid: z.int().positive(),
  /** ISO 8601. */
  startedAt: z.string(),
});
/** How other processes of this machine find the running daemon. A daemon that was killed leaves it behind. */
export type DaemonFile = z.infer<typeof DaemonFile>;

/** Undefined when no daemon said where it is, or not in a way that can be read. */
export async function readDaemonFile(home: string): Promise<DaemonFile | undefined> {
  try {
    return DaemonFile.safeParse(JSON.parse(await readFile(fileIn(home), 'utf8'))).data;
  } catch (error) {
    if (NOT_THERE.some((code) => hasCode(error, code)) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Replaces the file as a whole: a reader sees the old text or the new one. */
export async function writeDaemonFile(home: string, daemon: DaemonFile): Promise<void> {
  const temporary = `${fileIn(home)}.${daemon.pid}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(daemon)}\n`, { mode: 0o600 });
    await rename(temporary, fileIn(home));
  } finally {
    await rm(temporary, { force: true }); // a full disk leaves it empty
  }
}

/** Removes the file of the daemon `pid`; that of another is left. */
export async function removeDaemonFile(home: string, pid: number): Promise<void> {
  if ((await readDaemonFile(home))?.pid === pid) await rm(fileIn(home), { force: true });
}

const fileIn = (home: string) => path.join(home, 'daemon.json');

/** Also where the home is no folder. */
const NOT_THERE = ['ENOENT', 'ENOTDIR'];
