import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../home/private-file.ts';
import { replaceFile, syncFolder } from '../../home/replace-file.ts';
import { restoreJournal } from '../../home/restore-journal.ts';
import { DATABASE_LOGS, isBackedUp } from './home-files.ts';

const journalSchema = z.strictObject({
  phase: z.enum(['setting aside', 'placing']),
  /** The folder of the home with the restored files. */
  staged: z.string().regex(/^\.restore-[\w-]+$/),
  /** The folder of the home for the files that were there before. */
  aside: z.string().regex(/^before-restore-[\w-]+$/),
});

type Journal = z.infer<typeof journalSchema>;

interface PutBackDeps {
  rename(from: string, to: string): Promise<void>;
}

/** Whether a restore of this home has begun to move files and has not ended. */
export const isInterrupted = (home: string): Promise<boolean> =>
  stat(restoreJournal(home)).then(
    () => true,
    () => false, // no journal, or no home
  );

/**
 * Replaces the files of a home by those in its folder `staged`, and keeps the former ones in its folder `aside`. Files move inside
 * the home, which may be a mounted disk. The caller holds the lock of the home.
 */
export async function putBack(
  home: string,
  { staged, aside }: Omit<Journal, 'phase'>,
  deps: PutBackDeps = { rename },
): Promise<void> {
  await write(home, { phase: 'setting aside', staged, aside });
  await finishPutBack(home, deps);
}

/** Completes what a kill interrupted; every step can be repeated. */
export async function finishPutBack(home: string, { rename: move }: PutBackDeps = { rename }): Promise<void> {
  const journal = await read(home);
  if (journal === undefined) return;
  const aside = path.join(home, journal.aside);
  const staged = path.join(home, journal.staged);
  if (journal.phase === 'setting aside') {
    await mkdir(aside, { recursive: true, mode: 0o700 });
    const former = (await readdir(home)).filter((name) => isBackedUp(name) || DATABASE_LOGS.includes(name));
    for (const name of former) await move(path.join(home, name), path.join(aside, name));
    for (const folder of [aside, home]) await syncFolder(folder);
    await write(home, { ...journal, phase: 'placing' });
  }
  for (const name of await readdir(staged)) await move(path.join(staged, name), path.join(home, name));
  await syncFolder(home);
  for (const suffix of ['.bak', '']) await rm(`${restoreJournal(home)}${suffix}`, { force: true });
  await rm(staged, { recursive: true, force: true });
}

const write = (home: string, journal: Journal) => replaceFile(restoreJournal(home), `${JSON.stringify(journal)}\n`);

async function read(home: string): Promise<Journal | undefined> {
  try {
    return journalSchema.parse(JSON.parse(await readFile(restoreJournal(home), 'utf8')));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new Error(`${restoreJournal(home)} is damaged. Restore the backup into an empty folder with --home.`, {
      cause: error,
    });
  }
}
