import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openConfined, openConfinedFolder } from '../../tools/files/confined-file.ts';
import type { Confinement } from '../../tools/files/confinement.ts';
import type { HeldFolder } from '../../tools/files/held-folder.ts';
import { ToolProblem } from '../../tools/tool-problem.ts';
import type { Workdir } from '../../tools/workdir.ts';
import { placeOf } from '../place.ts';
import { readUpTo } from '../read-part.ts';
import { WorkspaceProblem } from '../workspace.ts';

/** A repository whose working tree is a folder of the workstream. */
export interface OpenRepository extends AsyncDisposable {
  root: HeldFolder;
  /** Its `.git` folder. */
  fd: number;
  way: string;
  /** The last commit; undefined before the first one. */
  commit: string | undefined;
  branch: string | undefined;
  /** Patterns of ignored files that only this clone has. */
  exclude: string;
  /** Attributes of files that only this clone has. */
  attributes: string;
}

export interface Place {
  root: HeldFolder;
  workdir: Workdir;
  confinement: Confinement;
}

/**
 * Opens the repository in a folder. Undefined if there is none; `elsewhere` if a part of it lies outside the folder, as in
 * linked working trees: what is there is not for everybody who sees this workstream.
 */
export async function openRepository(at: Place): Promise<OpenRepository | 'elsewhere' | undefined> {
  const folder = await openGitFolder(at);
  if (folder === undefined || folder === 'elsewhere') return folder;
  const { handle, way } = folder;
  try {
    if (!(await isSelfContained(way))) return await closed(handle);
    const head = await readHead(at);
    return {
      root: at.root,
      fd: handle.fd,
      way,
      commit: head.commit,
      branch: head.branch,
      exclude: (await readGitFile(at, 'info/exclude')) ?? '',
      attributes: (await readGitFile(at, 'info/attributes')) ?? '',
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function closed(handle: { close(): Promise<void> }): Promise<'elsewhere'> {
  await handle.close();
  return 'elsewhere';
}

async function openGitFolder({ root, workdir, confinement }: Place) {
  const path = join(root.path, '.git');
  try {
    const place = await placeOf({ confinement, workdir, path });
    if (place.path !== path) return 'elsewhere'; // a link
    return await openConfinedFolder(place, { make: false });
  } catch (error) {
    if (error instanceof WorkspaceProblem) return undefined;
    if (error instanceof ToolProblem) return 'elsewhere'; // a file that names another folder
    throw error;
  }
}

/** Whether all objects lie in the folder itself: neither links nor other object stores are in it. */
async function isSelfContained(way: string): Promise<boolean> {
  const list = (name: string) => readdir(join(way, name), { withFileTypes: true }).catch(() => []);
  const [objects, packs, info, top] = await Promise.all([
    list('objects'),
    list('objects/pack'),
    list('objects/info'),
    list('.'),
  ]);
  const loose = await Promise.all(
    objects.flatMap(({ name }) => (/^[0-9a-f]{2}$/.test(name) ? [list(`objects/${name}`)] : [])),
  );
  const isBorrowing = info.some(({ name }) => name === 'alternates' || name === 'http-alternates');
  const parts = top.filter(({ name }) => name === 'objects' || name === 'index');
  return (
    !isBorrowing && [...objects, ...packs, ...info, ...parts, ...loose.flat()].every((entry) => !entry.isSymbolicLink())
  );
}

const HASH = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const REF = /^ref: (refs\/[\w./+@#-]{1,400})$/;
const MOST_LINKS = 5;

async function readHead(at: Place): Promise<{ commit: string | undefined; branch: string | undefined }> {
  let text = firstLine(await readGitFile(at, 'HEAD'));
  let branch: string | undefined;
  for (let step = 0; step < MOST_LINKS; step += 1) {
    if (HASH.test(text)) return { commit: text, branch };
    const name = REF.exec(text)?.[1];
    if (name === undefined || name.split('/').includes('..')) break;
    branch ??= name.replace(/^refs\/heads\//, '');
    text = firstLine(await readGitFile(at, name)) || (await findPacked(at, name));
  }
  return { commit: undefined, branch };
}

const firstLine = (text = ''): string => text.split('\n', 1)[0]?.trim() ?? '';

async function findPacked(at: Place, ref: string): Promise<string> {
  const lines = (await readGitFile(at, 'packed-refs'))?.split('\n') ?? [];
  return lines.find((line) => line.endsWith(` ${ref}`))?.split(' ', 1)[0] ?? '';
}

const MOST_BYTES = 4 * 1024 * 1024;

/** Undefined for a file that is missing, lies elsewhere or is too large. */
async function readGitFile({ root, workdir, confinement }: Place, name: string): Promise<string | undefined> {
  try {
    const place = await placeOf({ confinement, workdir, path: join(root.path, '.git', name) });
    const { handle, stats } = await openConfined(place);
    try {
      return stats.size > MOST_BYTES ? undefined : (await readUpTo(handle, stats.size)).toString('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof WorkspaceProblem || error instanceof ToolProblem) return undefined;
    throw error;
  }
}
