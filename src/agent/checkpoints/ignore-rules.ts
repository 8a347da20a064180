import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type IgnorePatterns, toIgnorePatterns } from '../project/ignore-patterns.ts';
import { IGNORE_FILE } from '../project/project-places.ts';

/** The patterns of one .gitignore file, for paths below its folder. */
interface Rules {
  /** Where its folder lies above the root: `../../`; empty at the root and below. */
  fromAbove: string;
  /** Its folder below the root: `src/`. */
  folder: string;
  rules: IgnorePatterns;
}

/** Which names Git would ignore. The deepest matching file decides. */
export class IgnoreRules {
  readonly #rules: readonly Rules[];

  constructor(rules: readonly Rules[] = []) {
    this.#rules = rules;
  }

  /** With the patterns of a .gitignore file in a folder below the root. */
  with(text: string | undefined, folder: string): IgnoreRules {
    if (text === undefined || text.trim() === '') return this;
    return new IgnoreRules([...this.#rules, { fromAbove: '', folder, rules: toIgnorePatterns(text) }]);
  }

  /** `path`: below the root; folders end with a slash. */
  ignores(path: string): boolean {
    let isIgnored = false;
    for (const { fromAbove, folder, rules } of this.#rules) {
      const { ignored, unignored } = rules.test(`${fromAbove}${path.slice(folder.length)}`);
      isIgnored = ignored || (isIgnored && !unignored);
    }
    return isIgnored;
  }
}

const MAX_BYTES = 1024 * 1024;

/**
 * The rules that hold at a root because of the repository around it: of the folders above, and `info/exclude`. None outside
 * of a repository.
 */
export function rulesAbove(root: string): IgnoreRules {
  const above: string[] = [root];
  while (!isThere(join(above[0] ?? root, '.git'))) {
    const parent = dirname(above[0] ?? root);
    if (parent === above[0]) return new IgnoreRules();
    above.unshift(parent);
  }
  const top = above[0] ?? root;
  const texts = [
    { folder: top, text: readRules(join(top, '.git/info/exclude')) },
    ...above.slice(0, -1).map((folder) => ({ folder, text: readRules(join(folder, IGNORE_FILE)) })),
  ];
  return new IgnoreRules(
    texts.flatMap(({ folder, text }) => {
      if (text === undefined) return [];
      const below = relative(folder, root);
      return [{ fromAbove: below === '' ? '' : `${below}/`, folder: '', rules: toIgnorePatterns(text) }];
    }),
  );
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Undefined if there is no such file, or it is too long to be meant. */
export function readRules(path: string | Buffer): string | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined; // there is none, or it cannot be read
  }
}
