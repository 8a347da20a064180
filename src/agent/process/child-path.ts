import { delimiter, isAbsolute } from 'node:path';
import { followWay, isInsideAny, isOfPackages, isOpenToAll, type Look, STANDARD_PATH } from './programs.ts';

/**
 * The PATH of a child process. Drops relative and empty entries. Folders in which a command, a cloned repository or
 * another user could plant a program come after all others. `avoid` are folders with links resolved.
 */
export async function toChildPath(path: string | undefined, avoid: readonly string[], look?: Look): Promise<string> {
  const entries = (path || STANDARD_PATH).split(delimiter).filter(isAbsolute);
  const risky = await Promise.all(entries.map((entry) => isRisky(entry, avoid, look)));
  const first = entries.filter((_, i) => !risky[i]);
  const last = entries.filter((_, i) => risky[i]);
  return [...(first.length === 0 ? [STANDARD_PATH] : first), ...last].join(delimiter);
}

async function isRisky(entry: string, avoid: readonly string[], look: Look | undefined): Promise<boolean> {
  const { real, passed } = await followWay(entry, look);
  // Anyone who can write to the parent folder can create it.
  if (passed.at(-1)?.path !== real) return true;
  return passed.some((place) => isOpenToAll(place) || isOfPackages(place.path) || isInsideAny(avoid, place.path));
}
