import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/** What Git ignores in these folders: `*.log` and `cache/`. */
export const IGNORED = '*.log\ncache/\n';

const isIgnored = (name: string, isFolder: boolean): boolean =>
  name === '.git' || name.endsWith('.log') || (isFolder && name === 'cache');

/**
 * All files of a folder that are not ignored, each with its permissions and its content; written without the code of the
 * product. Empty folders do not count.
 */
export function readTree(root: string, folder = ''): Map<string, string> {
  const tree = new Map<string, string>();
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    if (isIgnored(entry.name, entry.isDirectory())) continue;
    const below = path.join(folder, entry.name);
    const at = path.join(root, below);
    if (entry.isDirectory()) for (const [name, what] of readTree(root, below)) tree.set(name, what);
    else if (entry.isSymbolicLink()) tree.set(below, `link to ${readlinkSync(at)}`);
    else if (entry.isFile()) {
      const hash = createHash('sha1').update(readFileSync(at)).digest('hex');
      tree.set(below, `${(lstatSync(at).mode & 0o777).toString(8)} ${hash}`);
    }
  }
  return tree;
}

/** How two trees differ, in words; empty: they are the same. */
export function differencesOf(expected: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string[] {
  const names = new Set([...expected.keys(), ...found.keys()]);
  return [...names].flatMap((name) =>
    expected.get(name) === found.get(name)
      ? []
      : [`${name}: expected ${expected.get(name) ?? 'nothing'}, found ${found.get(name) ?? 'nothing'}`],
  );
}
