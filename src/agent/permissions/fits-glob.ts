/** Parts of a pattern besides characters: any number of characters, and any one. */
export const ANY = Symbol('*');
export const ONE = Symbol('?');

/** One character that stands for itself, or one of the above. */
export type GlobPart = string | typeof ANY | typeof ONE;

/** Whether a name fits a pattern. Goes back only to the last ANY, so that even a hostile pattern takes little time. */
export function fitsGlob(glob: readonly GlobPart[], text: string): boolean {
  const name = Array.from(text);
  let [at, star, starredAt] = [0, -1, 0];
  for (let next = 0; next < name.length; ) {
    const part = glob[at];
    if (part === ANY) {
      star = at++;
      starredAt = next;
    } else if (part === ONE || (part !== undefined && part === name[next])) {
      at += 1;
      next += 1;
    } else if (star !== -1) {
      at = star + 1;
      next = ++starredAt;
    } else return false;
  }
  while (glob[at] === ANY) at += 1;
  return at === glob.length;
}
