import { isUtf8 } from 'node:buffer';

type Change = 'added' | 'modified' | 'deleted' | 'conflict' | 'untracked';

/** A changed file, with what git knows about its earlier contents. */
export interface StatusLine {
  /** Relative to the working tree. */
  path: string;
  staged?: Change;
  unstaged?: Change;
  /** The object of the last commit, and of the index; undefined: there is none. */
  head: string | undefined;
  index: string | undefined;
  /** The kind of the file in the last commit, as git writes it, such as `100644`. */
  headMode?: string;
}

/** Reads `git status --porcelain=v2 -z`. Names that are not UTF-8 are left out, because no method could name them. */
export function parseStatus(bytes: Buffer): StatusLine[] {
  const lines: StatusLine[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    if (end < 0) break; // cut
    const line = bytes.subarray(at, end);
    at = end + 1;
    const parsed = isUtf8(line) ? parseLine(line.toString('utf8')) : undefined;
    if (parsed) lines.push(parsed);
  }
  return lines;
}

const CHANGED = /^1 (.)(.) \S+ (\d+) \d+ \d+ ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.+)$/s;
const UNMERGED = /^u \S\S \S+ \d+ \d+ \d+ \d+ [0-9a-f]{40,64} ([0-9a-f]{40,64}) [0-9a-f]{40,64} (.+)$/s;

function parseLine(line: string): StatusLine | undefined {
  if (line.startsWith('? ')) return { path: line.slice(2), unstaged: 'untracked', head: undefined, index: undefined };
  const [, staged = '.', unstaged = '.', headMode = '', head, index, path] = CHANGED.exec(line) ?? [];
  if (path !== undefined) {
    const [first, second] = [toChange(staged), toChange(unstaged)];
    return {
      path,
      ...(first && { staged: first }),
      ...(second && { unstaged: second }),
      head: toObject(head),
      index: toObject(index),
      ...(toObject(head) !== undefined && { headMode }),
    };
  }
  const [, ours, conflicting] = UNMERGED.exec(line) ?? [];
  if (conflicting === undefined) return undefined;
  return { path: conflicting, unstaged: 'conflict', head: toObject(ours), index: toObject(ours) };
}

const CHANGES: Readonly<Record<string, Change>> = { A: 'added', M: 'modified', T: 'modified', D: 'deleted' };

const toChange = (letter: string): Change | undefined => CHANGES[letter];

/** Zeros stand for nothing. */
const toObject = (name = ''): string | undefined => (/^0*$/.test(name) ? undefined : name);
