import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Typed lines, newest first. A missing or malformed file counts as empty. */
export async function readInputHistory(file: string): Promise<string[]> {
  try {
    const lines: unknown = JSON.parse(await readFile(file, 'utf8'));
    return Array.isArray(lines) && lines.every((line) => typeof line === 'string') ? lines : [];
  } catch {
    return []; // the chat works without its history
  }
}

/** Stores the lines, readable only by this user. Failures are ignored: the history is only a convenience. */
export async function writeInputHistory(file: string, lines: readonly string[]): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(lines), { mode: 0o600 });
    await rename(temporary, file);
  } catch {
    return; // for example, the disk is full; the chat continues
  }
}
