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
  // Braces come before tildes: `{,}~/x` is below the home.
  return globs.some((glob) => glob.startsWith('~')) ? undefined : globs;
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
  for (const part of partsOf(glob)) if (!(part === ANY && parts.at(-1) === ANY)) parts.push(part);
  const hidesDots = /^[*?[]/.test(glob);
  return (name) => !(hidesDots && name.startsWith('.')) && fitsGlob(parts, name);
}

/** By characters, and not by a regular expression: its time would grow with the third power of a hostile pattern. */
function* partsOf(glob: string): Generator<GlobPart> {
  const lastClosing = glob.lastIndexOf(']');
  for (let at = 0; at < glob.length; ) {
    const char = characterAt(glob, at);
    const escaped = char === '\\' ? characterAt(glob, at + 1) : '';
    const isBracket = char === '[' && at < lastClosing;
    yield escaped || toPart(char, isBracket);
    at = isBracket ? endOfBracket(glob, at) : at + char.length + escaped.length;
  }
}

function toPart(char: string, isBracket: boolean): GlobPart {
  if (char === '*') return ANY;
  // A bracket may hold classes and ranges of the locale: any character is more than it matches.
  return char === '?' || isBracket ? ONE : char;
}

/** A whole one; empty behind the end. */
function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

/** Behind its closing bracket, or behind the last bracket that may close it. Its first character and classes may contain one. */
function endOfBracket(glob: string, start: number): number {
  let at = start + (/^\[[!^]?\]/.exec(glob.slice(start, start + 3))?.[0].length ?? 1);
  let lastEnd = at;
  while (at < glob.length) {
    const char = glob.charAt(at);
    if (char === ']') return at + 1;
    const isClass = char === '[' && ':.='.includes(glob.charAt(at + 1) || '!');
    const end = isClass ? glob.indexOf(']', at + 2) + 1 : 0;
    if (end > 0) lastEnd = end;
    at = end > 0 ? end : at + 1;
  }
  return lastEnd;
}
