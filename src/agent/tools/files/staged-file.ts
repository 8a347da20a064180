import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolProblem } from '../tool-problem.ts';
import { type FileVersion, openConfinedFolder, toProblem } from './confined-file.ts';
import type { AllowedPlace } from './confinement.ts';

/** A change of a file that is prepared next to it, so that nothing but a change of names is left to do. */
export interface StagedFile extends AsyncDisposable {
  /** Makes the change at once. Resolves with what else to say of it; rejects if it is not made. */
  commit(): Promise<string | undefined>;
  /** Takes a change back that was made. */
  undo(): Promise<unknown>;
}

/** What a file is to become; `old` is absent for a new file. */
export interface NewContent {
  text: string;
  old: FileVersion | undefined;
  /** For a new file: the one whose mode and owner it gets. */
  like?: FileVersion | undefined;
}

/** Creates or replaces the file atomically. Keeps the mode and owner of the old file. Resolves with what else to say of it. */
export async function replaceFile(place: AllowedPlace, content: NewContent): Promise<string | undefined> {
  await using staged = await stageContent(place, content);
  return await staged.commit();
}

/** Prepares new content for a file; missing folders are created. Disposing it lets go of what it has open. */
export async function stageContent(place: AllowedPlace, { text, old, like = old }: NewContent): Promise<StagedFile> {
  const { folder, name, temporary } = await openNextTo(place, { make: true });
  const close = async () => {
    await rm(temporary, { force: true });
    await folder.handle.close();
  };
  try {
    await writeNew(temporary, { text, like });
  } catch (error) {
    await close();
    throw toProblem(place, error);
  }
  return {
    commit: () => moved(place, folder, [temporary, name]),
    undo: () => (old ? replaceFile(place, { text: old.text, old }) : rm(name)),
    [Symbol.asyncDispose]: close,
  };
}

/** Prepares the removal of a file. Until it is disposed, the removed file lies next to its place. */
export async function stageRemoval(place: AllowedPlace): Promise<StagedFile> {
  const { folder, name, temporary } = await openNextTo(place, { make: false });
  return {
    commit: () => moved(place, folder, [name, temporary]),
    undo: () => moved(place, folder, [temporary, name]),
    async [Symbol.asyncDispose]() {
      await rm(temporary, { force: true });
      await folder.handle.close();
    },
  };
}

type Change = Pick<StagedFile, 'commit' | 'undo'>;

/** Makes all changes; if one fails, those before it are taken back. Resolves with what else to say of them. */
export async function commitAll(staged: readonly Change[]): Promise<string[]> {
  const done: Change[] = [];
  const remarks: string[] = [];
  for (const change of staged) {
    try {
      const remark = await change.commit();
      if (remark !== undefined) remarks.push(remark);
    } catch (error) {
      await takeBack(done, error);
      throw error;
    }
    done.push(change);
  }
  return remarks;
}

async function takeBack(done: readonly Change[], cause: unknown): Promise<void> {
  const undone = await Promise.allSettled(done.toReversed().map((change) => change.undo()));
  if (undone.every(({ status }) => status === 'fulfilled')) return;
  const why = cause instanceof Error ? cause.message : 'unknown error';
  throw new ToolProblem(`${why}. Some files were changed already and could not be restored; look at each of them.`);
}

type Folder = Awaited<ReturnType<typeof openConfinedFolder>>;

async function openNextTo(place: AllowedPlace, { make }: { make: boolean }) {
  const parent = { base: place.base, path: dirname(place.path), shown: place.shown };
  const folder = await openConfinedFolder(parent, { make });
  const name = basename(place.path);
  // A name may have 255 bytes, and a character of it takes up to three.
  const temporary = join(folder.way, `.${name.slice(0, 50)}.${randomBytes(6).toString('hex')}.tmp`);
  return { folder, name: join(folder.way, name), temporary };
}

/** Once the names have changed, the change is made, whatever the disk says of them. */
async function moved(
  place: AllowedPlace,
  folder: Folder,
  [from, to]: readonly [string, string],
): Promise<string | undefined> {
  try {
    await rename(from, to);
  } catch (error) {
    throw toProblem(place, error);
  }
  try {
    await folder.handle.sync();
    return undefined;
  } catch (error) {
    return `${toProblem(place, error).message}. The change is made, but it may be lost if the machine fails now.`;
  }
}

async function writeNew(path: string, { text, like }: { text: string; like: FileVersion | undefined }): Promise<void> {
  const handle = await open(path, 'wx', like?.mode ?? 0o666);
  try {
    await handle.writeFile(text);
    if (like) {
      await handle.chown(like.owner.uid, like.owner.gid).catch(() => undefined); // only root may change the owner
      await handle.chmod(like.mode);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}
