import { isUtf8 } from 'node:buffer';
import { readlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { GitDiff } from '../../../../protocol/methods/conversation/file.ts';
import { countLines } from '../../checkpoints/compare-files.ts';
import { openConfined, openConfinedFolder } from '../../tools/files/confined-file.ts';
import { toDiff } from '../../tools/files/file-diff.ts';
import { isSecretPath } from '../../tools/files/secret-path.ts';
import { ToolProblem } from '../../tools/tool-problem.ts';
import { type Asked, placeOf } from '../place.ts';
import { readUpTo } from '../read-part.ts';
import { type AskedDiff, WorkspaceProblem } from '../workspace.ts';
import type { StatusLine } from './parse-status.ts';

/** Reads what is compared. */
export interface SideReader {
  /** The content of an object; undefined if git has none. */
  object(name: string, maxBytes: number): Promise<Buffer | 'large' | undefined>;
  /** The file on the disk. */
  asked: Asked;
}

type Side = { text: string | undefined } | { without: NonNullable<GitDiff['without']> };

const MOST_BYTES = 1024 * 1024;

/**
 * The diff of one changed file. Files that nobody should see have none. `path` is the name that git knows: as somebody
 * asked for it, it may be spelt so that it looks harmless.
 */
export async function diffOf(line: StatusLine, { path, part }: AskedDiff, reader: SideReader): Promise<GitDiff> {
  const bare = { path, additions: 0, deletions: 0 };
  if (isSecretPath(path)) return { ...bare, without: 'secret' };
  const before = await readObject(part === 'unstaged' ? line.index : line.head, reader);
  const after = part === 'staged' ? await readObject(line.index, reader) : await readDisk(line, reader);
  if ('without' in before) return { ...bare, without: before.without };
  if ('without' in after) return { ...bare, without: after.without };
  if (before.text === after.text) return { ...bare, diff: '' };
  const diff = toDiff({ shown: path, before: before.text, after: after.text });
  return { path, ...countLines(diff), diff };
}

async function readObject(name: string | undefined, { object }: SideReader): Promise<Side> {
  if (name === undefined) return { text: undefined };
  const bytes = await object(name, MOST_BYTES);
  return bytes === 'large' ? { without: 'large' } : toSide(bytes);
}

async function readDisk({ unstaged }: StatusLine, { asked }: SideReader): Promise<Side> {
  if (unstaged === 'deleted') return { text: undefined };
  try {
    const target = await targetOf(asked);
    if (target !== undefined) return { text: target };
    const place = await placeOf(asked);
    if (place.isSecret) return { without: 'secret' };
    const { handle, stats } = await openConfined(place);
    try {
      return stats.size > MOST_BYTES ? { without: 'large' } : toSide(await readUpTo(handle, stats.size));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof WorkspaceProblem || error instanceof ToolProblem) return { text: undefined }; // gone meanwhile
    throw error;
  }
}

/** Of a link, git compares where it leads; undefined for other files. */
async function targetOf(asked: Asked): Promise<string | undefined> {
  const folder = await openConfinedFolder(await placeOf({ ...asked, path: dirname(asked.path) }), { make: false });
  try {
    return await readlink(join(folder.way, basename(asked.path))).catch(() => undefined);
  } finally {
    await folder.handle.close();
  }
}

function toSide(bytes: Buffer | undefined): Side {
  if (bytes === undefined) return { text: undefined };
  return bytes.includes(0) || !isUtf8(bytes) ? { without: 'binary' } : { text: bytes.toString('utf8') };
}
