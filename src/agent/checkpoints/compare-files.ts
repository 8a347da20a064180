import { isUtf8 } from 'node:buffer';
import { toDiff } from '../tools/files/file-diff.ts';
import { isSecretPath } from '../tools/files/secret-path.ts';
import { type Entry, toShownPath } from './entry.ts';
import type { RootedPath } from './plan-files.ts';
import { type Difference, differences, type TreeReader } from './tree.ts';

/** Why a changed file has no diff. */
export type NoDiffReason = 'binary' | 'large' | 'secret' | 'left_out' | 'budget';

/** A file that differs between two snapshots. */
export interface ComparedFile extends RootedPath {
  change: 'added' | 'modified' | 'deleted';
  /** The permissions before and after, if they differ. */
  modes?: { before: number; after: number };
  additions: number;
  deletions: number;
  /** A unified diff; absent with `without`. */
  diff?: string;
  without?: NoDiffReason;
}

interface Comparing {
  /** Only this path, as people see it. */
  only?: string | undefined;
  /** How a path is shown. */
  toShown(at: RootedPath): string;
  maxBytes: number;
}

const MOST_FILE_BYTES = 1024 * 1024;

/** The files that differ, with their diffs as far as all of them fit into `maxBytes`. */
export function compareFiles(
  trees: readonly (readonly [string | undefined, string | undefined])[],
  reader: TreeReader,
  { only, toShown, maxBytes }: Comparing,
): ComparedFile[] {
  const files: ComparedFile[] = [];
  let left = maxBytes;
  for (const [root, pair] of trees.entries()) {
    for (const difference of differences(reader, pair)) {
      const at = { root, path: difference.path };
      const shown = toShown(at);
      if (only !== undefined && shown !== only) continue;
      const file = { ...at, ...compareOne(difference, { reader, shown }) };
      const size = file.diff?.length ?? 0;
      if (size > left) {
        const { diff: _, ...rest } = file;
        files.push({ ...rest, without: 'budget' });
      } else {
        left -= size;
        files.push(file);
      }
    }
  }
  return files;
}

type Compared = Omit<ComparedFile, keyof RootedPath>;

function compareOne(
  { before, after, path }: Difference,
  { reader, shown }: { reader: TreeReader; shown: string },
): Compared {
  const change = before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified';
  const modes = modesOf(before, after);
  const bare = { change, ...(modes && { modes }), additions: 0, deletions: 0 } as const;
  const [old, now] = [readText(before, reader), readText(after, reader)];
  const problem = old?.without ?? now?.without;
  if (problem !== undefined) return { ...bare, without: problem };
  if (isSecretPath(toShownPath(path))) return { ...bare, without: 'secret' };
  if (old?.text === now?.text) return { ...bare, diff: '' };
  const diff = toDiff({ shown, before: old?.text, after: now?.text ?? '' });
  return { ...bare, ...countLines(diff), diff };
}

function modesOf(before: Entry | undefined, after: Entry | undefined): ComparedFile['modes'] {
  if (before?.kind !== 'file' || after?.kind !== 'file' || before.mode === after.mode) return undefined;
  return { before: before.mode, after: after.mode };
}

/** The text of a file, or the target of a link; undefined if there is nothing. */
function readText(
  entry: Entry | undefined,
  reader: TreeReader,
): { text: string; without?: never } | { text?: never; without: NoDiffReason } | undefined {
  if (entry === undefined) return undefined;
  if (entry.kind === 'left_out') return { without: 'left_out' };
  if (entry.kind === 'link') return { text: `link to ${toShownPath(entry.target)}\n` };
  if (entry.size > MOST_FILE_BYTES) return { without: 'large' };
  const content = reader.get(entry.hash);
  if (content.includes(0) || !isUtf8(content)) return { without: 'binary' };
  return { text: content.toString('utf8') };
}

export function countLines(diff: string): { additions: number; deletions: number } {
  const lines = diff.split('\n');
  const first = lines.findIndex((line) => line.startsWith('@@'));
  const changed = first < 0 ? [] : lines.slice(first);
  return {
    additions: changed.filter((line) => line.startsWith('+')).length,
    deletions: changed.filter((line) => line.startsWith('-')).length,
  };
}
