/** Prepares a pattern of names, in which `*` stands for any characters and `?` for one. */
export function toMatcher(pattern: string): (name: string) => boolean {
  if (!/[*?]/.test(pattern)) return (name) => name === pattern;
  const glob = Array.from(pattern);
  return (name) => fitsGlob(glob, Array.from(name));
}

/**
 * Whether a name fits a pattern of characters, `?` (any one) and `*` (any number). Goes back only to the last `*`, so that no
 * pattern takes long.
 */
function fitsGlob(glob: readonly string[], name: readonly string[]): boolean {
  let [at, star, starredAt] = [0, -1, 0];
  for (let next = 0; next < name.length; ) {
    if (glob[at] === '*') {
      star = at++;
      starredAt = next;
    } else if (glob[at] === '?' || glob[at] === name[next]) {
      at += 1;
      next += 1;
    } else if (star !== -1) {
      at = star + 1;
      next = ++starredAt;
    } else return false;
  }
  return glob.slice(at).every((rest) => rest === '*');
}
