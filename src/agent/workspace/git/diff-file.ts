import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type FileHandle, readlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { GitDiff } from '../../../../protocol/methods/conversation/file.ts';
import { countLines } from '../../checkpoints/compare-files.ts';
import { MODE_BITS } from '../../checkpoints/entry.ts';
import { hashOf } from '../../checkpoints/object-store.ts';
import { fileMark, linkMark, NOTHING } from '../../checkpoints/seen-mark.ts';
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
/** With the mark of what was read, if it is known. */
type DiskSide = Side & { mark?: string };

const MOST_BYTES = 1024 * 1024;

/**
 * The diff of one changed file. Files that nobody should see have none. `path` is the name that git knows: as somebody
 * asked for it, it may be spelt so that it looks harmless.
 */
export async function diffOf(line: StatusLine, { path, part }: AskedDiff, reader: SideReader): Promise<GitDiff> {
  const bare = { path, additions: 0, deletions: 0 };
  if (isSecretPath(path)) return { ...bare, without: 'secret' };
  const before = await readObject(part === 'unstaged' ? line.index : line.head, reader);
  const after: DiskSide = part === 'staged' ? await readObject(line.index, reader) : await readDisk(line, reader);
  const seen = part === undefined && after.mark !== undefined ? { seen: seenOf(line, after.mark) } : {};
  if ('without' in before) return { ...bare, without: before.without, ...seen };
  if ('without' in after) return { ...bare, without: after.without, ...seen };
  if (before.text === after.text) return { ...bare, diff: '', ...seen };
  const diff = toDiff({ shown: path, before: before.text, after: after.text });
  return { path, ...countLines(diff), diff, ...seen };
}

/** Names what a person saw: the content of the last commit, and the one on the disk. */
const seenOf = ({ head, headMode }: StatusLine, mark: string): string =>
  [head ?? NOTHING, headMode ?? NOTHING, mark].join('-');

/** The mark of what is on the disk, if the last commit is still the one that a person saw. */
export function markIn(seen: string, line: StatusLine): string | undefined {
  const start = seenOf(line, '');
  return seen.startsWith(start) ? seen.slice(start.length) : undefined;
}

async function readObject(name: string | undefined, { object }: SideReader): Promise<Side> {
  if (name === undefined) return { text: undefined };
  const bytes = await object(name, MOST_BYTES);
  return bytes === 'large' ? { without: 'large' } : toSide(bytes);
}

async function readDisk({ unstaged }: StatusLine, { asked }: SideReader): Promise<DiskSide> {
  if (unstaged === 'deleted') return GONE;
  try {
    const target = await targetOf(asked);
    if (target !== undefined) return { text: target.toString('utf8'), mark: linkMark(target) };
    const place = await placeOf(asked);
    if (place.isSecret) return { without: 'secret' };
    const { handle, stats } = await openConfined(place);
    try {
      const mode = stats.mode & MODE_BITS;
      if (stats.size > MOST_BYTES)
        return { without: 'large', ...(await markOfLarge(handle, { mode, size: stats.size })) };
      const bytes = await readUpTo(handle, stats.size);
      return { ...toSide(bytes), mark: fileMark({ mode, hash: hashOf(bytes) }) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof WorkspaceProblem || error instanceof ToolProblem) return GONE; // gone meanwhile
    throw error;
  }
}

const GONE: DiskSide = { text: undefined, mark: NOTHING };

/** Larger files are only compared by git. */
const MOST_HASHED = 64 * 1024 * 1024;

async function markOfLarge(
  handle: FileHandle,
  { mode, size }: { mode: number; size: number },
): Promise<{ mark?: string }> {
  if (size > MOST_HASHED) return {};
  const hash = createHash('sha256');
  const part = Buffer.alloc(MOST_BYTES);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await handle.read(part, 0, part.length, at);
    if (bytesRead === 0) break;
    hash.update(part.subarray(0, bytesRead));
    at += bytesRead;
  }
  return { mark: fileMark({ mode, hash: hash.digest('hex') }) };
}

/** Of a link, git compares where it leads; undefined for other files. */
async function targetOf(asked: Asked): Promise<Buffer | undefined> {
  const folder = await openConfinedFolder(await placeOf({ ...asked, path: dirname(asked.path) }), { make: false });
  try {
    return await readlink(join(folder.way, basename(asked.path)), 'buffer').catch(() => undefined);
  } finally {
    await folder.handle.close();
  }
}

function toSide(bytes: Buffer | undefined): Side {
  if (bytes === undefined) return { text: undefined };
  return bytes.includes(0) || !isUtf8(bytes) ? { without: 'binary' } : { text: bytes.toString('utf8') };
}
