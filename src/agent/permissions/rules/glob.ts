import { ANY, fitsGlob, type GlobPart, ONE } from '../fits-glob.ts';

/** Prepares a pattern of names, in which `*` stands for any characters and `?` for one. */
export function toMatcher(pattern: string): (name: string) => boolean {
  if (!/[*?]/.test(pattern)) return (name) => name === pattern;
  const glob = Array.from(pattern, (part): GlobPart => (part === '*' ? ANY : part === '?' ? ONE : part));
  return (name) => fitsGlob(glob, name);
}
