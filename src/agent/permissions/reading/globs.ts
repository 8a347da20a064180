import type { WordPart } from 'unbash';
import { ANY, fitsGlob, type GlobPart, ONE } from '../fits-glob.ts';

/** Characters of a pattern that are not literal, unless a backslash precedes them. */
const SPECIAL = /[\\*?[\]]/g;
/** Lists and ranges of plain words. */
const BRACES = /^\{[\w.,@+-]*\}$/;
const MAX_ALTERNATIVES = 50;

/**
 * The patterns that a word stands for, one for each alternative in its braces; undefined if anything but file names and
 * simple braces is unknown.
 */
export function toGlobs(parts: readonly WordPart[] | undefined): string[] | undefined {
  if (!parts?.some(({ type }) => type === 'Glob' || type === 'BraceExpansion')) return undefined;
  let globs = [''];
  for (const part of parts) {
    const texts = toTexts(part);
    if (texts === undefined || globs.length * texts.length > MAX_ALTERNATIVES) return undefined;
    globs = globs.flatMap((glob) => texts.map((text) => glob + text));
  }
  return globs;
}

function toTexts(part: WordPart): string[] | undefined {
  if (part.type === 'Literal' || part.type === 'SingleQuoted') return [escapeGlob(part.value)];
  if (part.type === 'Glob') return [part.text];
  if (part.type !== 'BraceExpansion' || !BRACES.test(part.text)) return undefined;
  const inside = part.text.slice(1, -1);
  if (inside.includes(',')) return inside.split(',');
  return inside.includes('..') ? ['*'] : undefined;
}

/** The pattern of exactly this text. */
export const escapeGlob = (text: string): string => text.replace(SPECIAL, '\\$&');

/** The text that a pattern stands for, if that is only one. */
export function toPlainText(glob: string): string | undefined {
  const plain = glob.replace(/\\(.)/gs, '$1');
  return escapeGlob(plain) === glob ? plain : undefined;
}

/** Prepares the match of names, as a shell does it: a dot at their beginning only by itself. */
export function toNameMatcher(glob: string): (name: string) => boolean {
  const parts: GlobPart[] = [];
  for (const [part = '', escaped] of glob.matchAll(PARTS)) {
    const last = toPart(part, escaped);
    if (!(last === ANY && parts.at(-1) === ANY)) parts.push(last);
  }
  const hidesDots = /^[*?[]/.test(glob);
  return (name) => !(hidesDots && name.startsWith('.')) && fitsGlob(parts, name);
}

const PARTS = /\\(.)|\[[!^]?\]?(?:\[[:.=][^\]]*\]|[^\]])*\]|[\s\S]/gsu;

function toPart(part: string, escaped: string | undefined): GlobPart {
  if (escaped !== undefined) return escaped;
  if (part === '*') return ANY;
  // A bracket may hold classes and ranges of the locale: any character is more than it matches.
  return part === '?' || (part.startsWith('[') && part.length > 1) ? ONE : part;
}
