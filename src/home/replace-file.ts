import { link, open, rename, rm, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from './private-file.ts';

/** Replaces a file atomically, 0600 and synced: a reader sees the old text or the new one. Keeps the old one as `.bak`. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp`;
  await writeSynced(temporary, text);
  await keepPrevious(path, `${path}.bak`);
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/** Into a new file: what is there already may be a link that somebody else has made. */
async function writeSynced(path: string, text: string): Promise<void> {
  await removeFile(path);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

/** A hard link instead of a copy: it needs no space, and a full disk cannot leave half a file. */
async function keepPrevious(path: string, previous: string): Promise<void> {
  const temporary = `${previous}.tmp`;
  await rm(temporary, { force: true });
  try {
    await link(path, temporary);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return; // the first write has nothing to keep
    throw error;
  }
  await rename(temporary, previous);
}

/** Makes changes of the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
