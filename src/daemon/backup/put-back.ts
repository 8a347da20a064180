import { lstat, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { wordsOf } from '../../../protocol/words-of.ts';
import { hasCode, readPlainFile } from '../../home/private-file.ts';
import { replaceFile, syncFolder } from '../../home/replace-file.ts';
import { restoreJournal } from '../../home/restore-journal.ts';
import { DATABASE_LOGS, isBackedUp, isMisread } from './home-files.ts';

const journalSchema = z.strictObject({
  phase: z.enum(['setting aside', 'placing']),
  /** The folder of the home with the restored files. */
  staged: z.string().regex(/^\.restore-[\w-]+$/),
  /** The folder of the home for the files that were there before. */
  aside: z.string().regex(/^before-restore-[\w-]+$/),
});

type Journal = z.infer<typeof journalSchema>;

export interface PutBackDeps {
  rename(from: string, to: string): Promise<void>;
}

/** Whether a restore of this home has begun to move files and has not ended. */
export const isInterrupted = (home: string): Promise<boolean> =>
  stat(restoreJournal(home)).then(
    () => true,
    () => false, // no journal, or no home
  );

/** The restored files could not be put in place. */
export class NotPutBack extends Error {
  override readonly name = 'NotPutBack';
  /** Whether the former files are in place again. If not, the journal and the restored files stay, for `finishPutBack`. */
  readonly isTakenBack: boolean;

  constructor(isTakenBack: boolean, cause: unknown) {
    super(wordsOf(cause), { cause });
    this.isTakenBack = isTakenBack;
  }
}

/**
 * Replaces the files of a home by those in its folder `staged`, and keeps the former ones in its folder `aside`. Files move inside
 * the home, which may be a mounted disk. The caller holds the lock of the home. After an error, such as a full disk or a folder
 * that is a mount, the former files move back. Throws NotPutBack.
 */
export async function putBack(
  home: string,
  { staged, aside }: Omit<Journal, 'phase'>,
  deps: PutBackDeps = { rename },
): Promise<void> {
  const names = await readdir(path.join(home, staged));
  try {
    await write(home, { phase: 'setting aside', staged, aside });
    await finishPutBack(home, deps);
  } catch (cause) {
    const isTakenBack = await takeBack(home, names, deps).then(
      () => true,
      () => false, // the next start goes on forward
    );
    throw new NotPutBack(isTakenBack, cause);
  }
}

/** Undoes the moves in reverse order. A kill meanwhile leaves a journal with which everything can be moved forward again. */
async function takeBack(home: string, placed: readonly string[], { rename: move }: PutBackDeps): Promise<void> {
  const journal = await read(home);
  if (journal === undefined) return removeJournal(home); // nothing has been moved
  const aside = path.join(home, journal.aside);
  const staged = path.join(home, journal.staged);
  if (journal.phase === 'placing') {
    const left = new Set(await readdir(staged));
    for (const name of placed.filter((each) => !left.has(each)))
      await move(path.join(home, name), path.join(staged, name));
    await write(home, { ...journal, phase: 'setting aside' });
  }
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const name of await readdir(aside)) await move(path.join(aside, name), path.join(home, name));
  await syncFolder(home);
  await rmdir(aside);
  await removeJournal(home);
}

/** Completes what a kill interrupted; every step can be repeated. Returns the folder with the former files; undefined: nothing was to do. */
export async function finishPutBack(
  home: string,
  { rename: move }: PutBackDeps = { rename },
): Promise<string | undefined> {
  const journal = await read(home);
  if (journal === undefined) return undefined;
  const aside = path.join(home, journal.aside);
  const staged = path.join(home, journal.staged);
  if (journal.phase === 'setting aside') {
    await mkdir(aside, { recursive: true, mode: 0o700 });
    const former = (await readdir(home)).filter((name) => isBackedUp(name) || DATABASE_LOGS.includes(name));
    const restored = new Set(await readdir(staged));
    for (const name of former)
      if (restored.has(name) || !(await isInNoBackup(path.join(home, name))))
        await move(path.join(home, name), path.join(aside, name));
    for (const folder of [aside, home]) await syncFolder(folder);
    await write(home, { ...journal, phase: 'placing' });
  }
  for (const name of await readdir(staged)) await move(path.join(staged, name), path.join(home, name));
  await syncFolder(home);
  await removeJournal(home);
  await rm(staged, { recursive: true, force: true }).catch(() => undefined); // it is empty; the next restore removes it
  return aside;
}

/** A link, or a file whose name is not UTF-8. It stays, because nothing would take its place. */
async function isInNoBackup(file: string): Promise<boolean> {
  const found = await lstat(file).catch(() => undefined); // it is misread, or cannot be moved either
  return found?.isSymbolicLink() === true || (await isMisread(file));
}

/** The journal itself last: while it is there, the restore is not complete. */
async function removeJournal(home: string): Promise<void> {
  for (const suffix of ['.tmp', '.bak', '']) await rm(`${restoreJournal(home)}${suffix}`, { force: true });
}

const write = (home: string, journal: Journal) => replaceFile(restoreJournal(home), `${JSON.stringify(journal)}\n`);

async function read(home: string): Promise<Journal | undefined> {
  try {
    return journalSchema.parse(JSON.parse(await readPlainFile(restoreJournal(home))));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new Error(`${restoreJournal(home)} is damaged. Restore the backup into an empty folder with --home.`, {
      cause: error,
    });
  }
}
