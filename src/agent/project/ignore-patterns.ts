import ignore, { type Ignore } from 'ignore';

/** More patterns of one file are left out. */
const MOST = 10_000;
/** Of those with `**`, each of which is tried at every folder of a path. */
const MOST_DEEP = 200;
/** With more `**` in one pattern, the time grows with the third power of a path's length. */
const MOST_STARS = 2;
/** What lies deeper is not ignored. */
const DEEPEST = 100;

/** The patterns of a .gitignore file. */
export interface IgnorePatterns {
  test(path: string): { ignored: boolean; unignored: boolean };
}

const NEITHER = { ignored: false, unignored: false };

/**
 * Reads a .gitignore file of a repository that nobody needs to trust: a path is judged within moments, whatever the file says, by
 * leaving out patterns that nobody writes.
 */
export function toIgnorePatterns(text: string): IgnorePatterns {
  const rules: Ignore = ignore().add(boundedLines(text));
  return { test: (path) => (isTooDeep(path) ? NEITHER : rules.test(path)) };
}

function boundedLines(text: string): string[] {
  let deep = 0;
  const kept: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (kept.length === MOST) break;
    const stars = line.split('**').length - 1;
    if (stars > 0) deep += 1;
    if (stars <= MOST_STARS && (stars === 0 || deep <= MOST_DEEP)) kept.push(line);
  }
  return kept;
}

/** Not `split`, which would make an array of each path. */
function isTooDeep(path: string): boolean {
  let folders = 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    folders += 1;
    if (folders > DEEPEST) return true;
  }
  return false;
}
