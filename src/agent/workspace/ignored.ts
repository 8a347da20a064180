import { join, sep } from 'node:path';
import { isIgnored, readRules, readRulesAbove } from '../tools/search/search-files.ts';

/** The rules are applied to hundreds of names on the thread that serves everybody. */
const MOST_RULES_BYTES = 32 * 1024;

/** Whether .gitignore files from `root` down ignore an entry of a folder, which is named relative to `root`. */
export function ignoredIn(root: string, folder: string): (name: string, isFolder: boolean) => boolean {
  const target = join(root, folder);
  const rules = [...readRulesAbove(target, root, MOST_RULES_BYTES), ...readRules(target, MOST_RULES_BYTES)];
  const steps = folder.split(sep).filter(Boolean);
  const isWholly = steps.some((name, depth) => {
    const path = join(root, ...steps.slice(0, depth + 1));
    const above = rules.filter((each) => path.startsWith(`${each.folder}${sep}`));
    return name === '.git' || isIgnored(path, { rules: above, isFolder: true });
  });
  return (name, isFolder) => isWholly || name === '.git' || isIgnored(join(target, name), { rules, isFolder });
}
