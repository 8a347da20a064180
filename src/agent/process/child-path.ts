import { delimiter, isAbsolute } from 'node:path';
import { followWay, isInsideAny, isOfPackages, isOpenToAll, STANDARD_PATH } from './programs.ts';

/**
 * The PATH of a child process. Drops relative and empty entries. Folders in which a command, a cloned repository or
 * another user could plant a program come after all others. `avoid` are folders with links resolved.
 */
export async function toChildPath(path: string | undefined, avoid: readonly string[]): Promise<string> {
  const entries = (path || STANDARD_PATH).split(delimiter).filter(isAbsolute);
  const risky = await Promise.all(entries.map((entry) => isRisky(entry, avoid)));
  const first = entries.filter((_, i) => !risky[i]);
  const last = entries.filter((_, i) => risky[i]);
  return [...(first.length === 0 ? [STANDARD_PATH] : first), ...last].join(delimiter);
}

async function isRisky(entry: string, avoid: readonly string[]): Promise<boolean> {
  const { real, passed } = await followWay(entry);
  // Anyone who can write to the parent folder can create it.
  if (passed.at(-1)?.path !== real) return true;
  return passed.some((place) => isOpenToAll(place) || isOfPackages(place.path) || isInsideAny(avoid, place.path));
}
