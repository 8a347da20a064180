import { readlink, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { hasCode } from '../../home/private-file.ts';
import { isInside } from '../tools/files/confinement.ts';
import type { HeldFolder } from '../tools/files/held-folder.ts';
import type { PlantedPath } from './protected-paths.ts';
import { PROTECTED_PATHS } from './protected-paths.ts';

/** What a protected link stands for, relative to the root: what it leads to, or the protected paths in it. */
export async function leadTo(root: HeldFolder, name: string): Promise<string[]> {
  const [top, target] = await Promise.all([realpath(root.way), realpath(join(root.way, name))]).catch(() => []);
  // Elsewhere, commands cannot write.
  if (top === undefined || target === undefined || target === top || !isInside(top, target)) return [];
  const place = relative(top, target);
  const inner = PROTECTED_PATHS.filter((each) => each.startsWith(`${name}/`));
  return inner.length === 0 ? [place] : inner.map((each) => `${place}${each.slice(name.length)}`);
}

/** A protected link and its text. */
export interface ProtectedLink {
  name: string;
  text: string | undefined;
}

export const readLinks = (root: HeldFolder, names: readonly string[]): Promise<ProtectedLink[]> =>
  Promise.all(names.map(async (name) => ({ name, text: await textOf(join(root.way, name)) })));

/** Those that are something else now. Removed ones mean nothing. */
export async function findReplaced(root: HeldFolder, links: readonly ProtectedLink[]): Promise<PlantedPath[]> {
  const now = await readLinks(
    root,
    links.map(({ name }) => name),
  );
  return now
    .filter(({ text }, i) => text !== undefined && text !== links[i]?.text)
    .map(({ name }) => ({ kind: 'link', path: join(root.path, name) }));
}

/** Empty for everything but links; undefined if nothing is there. */
const textOf = (path: string): Promise<string | undefined> =>
  readlink(path).catch((error) => (hasCode(error, 'EINVAL') ? '' : undefined)); // EINVAL: no link
