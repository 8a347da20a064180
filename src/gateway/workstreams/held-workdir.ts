import { GatewayError } from '../../../protocol/errors.ts';
import { type FolderIdentity, type HeldFolder, holdFolder } from '../../agent/tools/files/held-folder.ts';
import type { Workdir, WorkdirSource } from '../../agent/tools/workdir.ts';

/** The folders of a workstream, as stored. */
export interface StoredWorkdir {
  wsId: string;
  workdir: string;
  /** Null in rows from before folders had an identity. */
  workdirIno: string | null;
  /** Additional folders that may be read without approval. */
  readable: readonly FolderIdentity[];
}

/** Held from the loading of a workstream to its unloading. */
export interface HeldWorkdir extends WorkdirSource, AsyncDisposable {}

interface Rules {
  /** Why this path cannot be a working directory; undefined when it can. */
  findBarrier(path: string): Promise<string | undefined>;
  /** True for a folder that only Headgate can have created: a new one is accepted without confirmation. */
  isOurs(path: string): Promise<boolean>;
  /** The folder was used for the first time. */
  onTaken(wsId: string, ino: string): Promise<void>;
}

/**
 * Opens the working directory, and checks at each `check` that it is the same folder at the same path, and still
 * allowed.
 */
export function holdWorkdir(stored: StoredWorkdir, rules: Rules): HeldWorkdir {
  const { wsId, workdir: path, workdirIno: ino, readable } = stored;
  let isReleased = false;
  let held: Promise<HeldFolder> | undefined;
  const further = readable.map((folder) => holdFurther(folder));

  async function take(): Promise<HeldFolder> {
    const folder = await holdFolder(path).catch((error: unknown) => {
      throw lost(path, isMissing(error) ? 'it no longer exists' : `it cannot be opened (${codeOf(error)})`);
    });
    const isKnown = ino === null || ino === folder.ino || (await rules.isOurs(path));
    if (isKnown && !isReleased && (await folder.isInPlace())) {
      if (ino === null) await rules.onTaken(wsId, folder.ino).catch(() => undefined); // the next load tries again
      return folder;
    }
    await folder[Symbol.asyncDispose]();
    throw replaced(wsId, path);
  }

  function takeOnce(): Promise<HeldFolder> {
    held ??= take().catch((error: unknown) => {
      held = undefined; // it may return, such as a disk that is mounted again
      throw error;
    });
    return held;
  }

  async function current(): Promise<HeldFolder> {
    const folder = await takeOnce();
    if (await folder.isInPlace()) return folder;
    if (!(await rules.isOurs(path))) throw replaced(wsId, path);
    held = undefined;
    await folder[Symbol.asyncDispose]();
    return takeOnce();
  }

  takeOnce().catch(() => undefined); // `check` reports the error when the folder is needed
  return {
    path,
    async check(): Promise<Workdir> {
      const [folder, barrier, open] = await Promise.all([current(), rules.findBarrier(path), Promise.all(further)]);
      if (barrier !== undefined) throw lost(path, barrier);
      const inPlace = await Promise.all(open.map((other) => other?.isInPlace()));
      return { folder, readable: open.flatMap((other, i) => (other && inPlace[i] ? [other] : [])) };
    },
    async [Symbol.asyncDispose]() {
      isReleased = true;
      const open = await Promise.all([held?.catch(() => undefined), ...further]);
      await Promise.all(open.map((folder) => folder?.[Symbol.asyncDispose]()));
    },
  };
}

/** Undefined when it is missing or another folder: reading in it then needs approval. */
async function holdFurther({ path, ino }: FolderIdentity): Promise<HeldFolder | undefined> {
  const folder = await holdFolder(path).catch(() => undefined);
  if (folder?.ino === ino) return folder;
  await folder?.[Symbol.asyncDispose]();
  return undefined;
}

const replaced = (wsId: string, path: string) =>
  lost(
    path,
    'it was replaced by another folder or a link. No run can start in this workstream until an approver confirms it: ' +
      `headgate call workstream.update '{"wsId":"${wsId}","confirmWorkdir":true}'`,
  );

const lost = (path: string, why: string) => new GatewayError('CONFLICT', `Working directory ${path}: ${why}`);

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : 'unknown error');
const isMissing = (error: unknown) => codeOf(error) === 'ENOENT';
