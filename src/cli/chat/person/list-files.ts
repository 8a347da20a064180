import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { SAFE_GIT_OPTIONS } from '../../../environment.ts';

const run = promisify(execFile);

/** More are not worth searching on every key. */
const MOST_FILES = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;
const GIT_MS = 5_000;
const ASKED = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z'];

/** The files of a folder, relative to it: those that git knows or would add; elsewhere all except hidden ones. */
export async function listFiles(folder: string): Promise<string[]> {
  try {
    const { stdout } = await run('git', [...SAFE_GIT_OPTIONS, ...ASKED], {
      cwd: folder,
      maxBuffer: MOST_BYTES,
      timeout: GIT_MS,
    });
    return stdout.split('\0').filter(Boolean).slice(0, MOST_FILES);
  } catch {
    return walk(folder); // no repository, or no git
  }
}

const SKIPPED: readonly string[] = ['node_modules', 'target', '__pycache__'];

/** Breadth first, so that the files near the top are among those that are found. */
async function walk(root: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [''];
  for (const folder of folders) {
    const found = await readFolder(root, folder);
    folders.push(...found.folders);
    files.push(...found.files);
    if (files.length >= MOST_FILES || folders.length >= MOST_FILES) break;
  }
  return files.slice(0, MOST_FILES);
}

async function readFolder(root: string, folder: string): Promise<{ files: string[]; folders: string[] }> {
  const entries = await readdir(path.join(root, folder), { withFileTypes: true }).catch(() => []);
  const shown = entries.filter(({ name }) => !name.startsWith('.') && !SKIPPED.includes(name));
  const namesOf = (kept: typeof shown) => kept.map(({ name }) => (folder === '' ? name : `${folder}/${name}`)).sort();
  return {
    files: namesOf(shown.filter((entry) => entry.isFile())),
    folders: namesOf(shown.filter((entry) => entry.isDirectory())),
  };
}
