import { createHash } from 'node:crypto';
import path from 'node:path';
import { isInside } from '../tools/files/confinement.ts';
import { type FileLooks, patientLooks, promptLooks } from '../tools/files/file-looks.ts';
import { INSTRUCTION_FILES } from './project-places.ts';

/** Of all instruction files together, in bytes. */
const MAX_BYTES = 32 * 1024;

/** A file with instructions of the person or the project. */
export interface InstructionFile {
  path: string;
  /** Without what exceeds the limit; the end says so. */
  text: string;
  /** SHA-256 of the text. */
  digest: string;
  /** The folder that is trusted with it; absent: the one that it is in. */
  folder?: string;
}

export interface FoundInstructions {
  /** The widest first: the home's, then from the root of the repository to the working directory. */
  files: InstructionFile[];
  /** Files that are not used, because nobody trusts their folder; the nearest first. Skills count, too. */
  untrusted: InstructionFile[];
}

export interface InstructionFolders {
  /** Headgate's home. Its own AGENTS.md applies everywhere, and the folders below its workspace are trusted. */
  home: string;
  /** Further trusted folders, with everything below them. Read at each use. */
  trusted(): readonly string[];
}

export interface InstructionPlaces {
  /** Of a project, real paths, nearest first (`findProjectFolders`). */
  project: readonly string[];
  looks: FileLooks;
  /** Folders that people trust here, too. */
  agreed: readonly string[];
}

/** Finds the instruction files of a project. */
export async function findInstructions(
  folders: InstructionFolders,
  { project: nearestFirst, looks, agreed }: InstructionPlaces,
): Promise<FoundInstructions> {
  const [project, ours] = await Promise.all([
    Promise.all(nearestFirst.map((folder) => readInstructions(folder, INSTRUCTION_FILES, looks))),
    // Our home is on a disk that the daemon waits for in any case: it contains the database.
    readInstructions(await promptLooks.realOf(folders.home), INSTRUCTION_FILES.slice(0, 1), promptLooks),
  ]);
  const isTrusted = project.some((file) => file) ? await trustOf(folders, agreed) : () => false;
  const found: InstructionFile[] = [];
  const untrusted: InstructionFile[] = [];
  let left = MAX_BYTES;
  const use = (file: ReadFile) => {
    const bytes = file.bytes.subarray(0, left);
    found.unshift(toShown({ ...file, bytes }));
    left -= bytes.length;
  };
  // The nearest first, because it is the last to be shortened.
  for (const file of project) {
    if (file && isTrusted(path.dirname(file.path))) use(file);
    else if (file) untrusted.push(toShown({ ...file, bytes: file.bytes.subarray(0, left) }));
  }
  if (ours) use(ours);
  return { files: found, untrusted };
}

/** Whether the files of a folder are trusted as instructions. The agreed folders are trusted without their subfolders. */
export async function trustOf(
  { home, trusted }: InstructionFolders,
  agreed: readonly string[],
): Promise<(folder: string) => boolean> {
  const roots = await Promise.all([path.join(home, 'workspace'), ...trusted()].map(patientLooks.realOf));
  return (folder) => agreed.includes(folder) || roots.some((root) => isInside(root, folder));
}

interface ReadFile {
  path: string;
  bytes: Buffer;
  size: number;
}

/** The first of these files that is there and is text. */
async function readInstructions(
  folder: string,
  names: readonly string[],
  looks: FileLooks,
): Promise<ReadFile | undefined> {
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name);
      const start = await looks.readStart(file, MAX_BYTES);
      return start && start.size > 0 && !start.bytes.includes(0) ? { path: file, ...start } : undefined;
    }),
  );
  return files.find((file) => file !== undefined);
}

function toShown({ path: file, bytes, size }: ReadFile): InstructionFile {
  const start = new TextDecoder().decode(bytes, { stream: true }).trimEnd(); // without half a character at the end
  const text = size > bytes.length ? `${start}\n${leftOut(size - bytes.length)}` : start;
  return { path: file, text, digest: digestOf(text) };
}

const leftOut = (bytes: number): string =>
  `[${bytes} bytes of this file are left out: all instruction files together are limited to ${MAX_BYTES / 1024} KiB.]`;

/** SHA-256 in hex. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
