/** Where two texts differ, in whole lines. */
export interface Differing {
  /** How many lines both begin with, without those of `lead`. */
  skipped: number;
  /** The last lines of the common beginning. */
  lead: string;
  /** Between the common beginning and the common end. */
  old: string;
  now: string;
  /** The first lines of the common end. */
  tail: string;
}

/**
 * Leaves out the lines that both texts begin and end with, except `around` of them on each side. The texts are not split for
 * that: most changes are small, and files may have millions of lines.
 */
export function findDiffering(before: string, after: string, around: number): Differing {
  const start = before === after ? before.length : lineStart(before, sameAtStart(before, after));
  const kept = keptAtEnd(before, after, start);
  const end = before.length - kept;
  const leadFrom = linesBack(before, start, around);
  return {
    skipped: countLines(before.slice(0, leadFrom)),
    lead: before.slice(leadFrom, start),
    old: before.slice(start, end),
    now: after.slice(start, after.length - kept),
    tail: before.slice(end, linesOn(before, end, around)),
  };
}

/** A last line without a line break counts, too. */
export function countLines(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** Large pieces are compared at once; from the first that differs, smaller ones. */
const STEPS = [65_536, 4_096, 256, 16, 1];

function sameAtStart(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let same = 0;
  for (const step of STEPS)
    while (same + step <= most && before.slice(same, same + step) === after.slice(same, same + step)) same += step;
  return same;
}

function sameAtEnd(before: string, after: string, most: number): number {
  const piece = (text: string, same: number, step: number) => text.slice(text.length - same - step, text.length - same);
  let same = 0;
  for (const step of STEPS)
    while (same + step <= most && piece(before, same, step) === piece(after, same, step)) same += step;
  return same;
}

/** How many characters at the end are whole lines of both texts, behind `start`. */
function keptAtEnd(before: string, after: string, start: number): number {
  const same = sameAtEnd(before, after, Math.min(before.length, after.length) - start);
  const isWhole = [before, after].every((text) => isLineStart(text, text.length - same, start));
  if (isWhole) return same;
  const broken = before.indexOf('\n', before.length - same);
  return broken === -1 ? 0 : before.length - broken - 1;
}

/** Where the line of a place begins. From a place behind a line break, the line that follows. */
const lineStart = (text: string, at: number): number => (at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1);

const isLineStart = (text: string, at: number, start: number): boolean => at === start || text[at - 1] === '\n';

function linesBack(text: string, from: number, count: number): number {
  let at = from;
  for (let line = 0; line < count && at > 0; line += 1) at = lineStart(text, at - 1);
  return at;
}

function linesOn(text: string, from: number, count: number): number {
  let at = from;
  for (let line = 0; line < count && at < text.length; line += 1) {
    const broken = text.indexOf('\n', at);
    at = broken === -1 ? text.length : broken + 1;
  }
  return at;
}
