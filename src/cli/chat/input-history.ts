import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const Lines = z.array(z.string());

/** Lines that were typed, newest first. A file that is not as we left it counts as empty. */
export async function readInputHistory(file: string): Promise<string[]> {
  try {
    return Lines.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return []; // none yet, or not readable: nothing that a conversation depends on
  }
}

/** Keeps them for the person alone. What cannot be kept is forgotten: it is a convenience. */
export async function writeInputHistory(file: string, lines: readonly string[]): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, JSON.stringify(lines), { mode: 0o600 });
    await rename(temporary, file);
  } catch {
    return; // a full disk, say: the conversation goes on
  }
}
