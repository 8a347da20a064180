import { link, open, rename, rm } from 'node:fs/promises';
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

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.chmod(0o600); // an old temporary file keeps its mode
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
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
