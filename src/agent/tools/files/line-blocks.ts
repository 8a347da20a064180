import { diffArrays } from 'diff';

/** Lines of the old text that others of the new text replace. Either may be none. */
export interface Block {
  old: Range;
  new: Range;
}

/** From the first line, counted from 0, up to the one before `end`. */
export interface Range {
  start: number;
  end: number;
}

/**
 * The lines that two texts do not have in common, with the fewest changes. If finding those is too much work, all lines
 * between the common beginning and the common end are one block. The work is counted, not timed, so that the same texts
 * always give the same blocks.
 */
export function changedBlocks(before: readonly string[], after: readonly string[]): Block[] {
  const differing = trim(before, after);
  const kept = commonOf(before.slice(...edges(differing.old)), after.slice(...edges(differing.new)));
  const pairs = matchLines(kept);
  const blocks: Block[] = [];
  let [from, to] = [differing.old.start, differing.new.start];
  const close = (old: number, now: number) => {
    if (old > from || now > to) blocks.push({ old: { start: from, end: old }, new: { start: to, end: now } });
    [from, to] = [old + 1, now + 1];
  };
  for (const [old, now] of pairs) close(old + differing.old.start, now + differing.new.start);
  close(differing.old.end, differing.new.end);
  return blocks;
}

const edges = ({ start, end }: Range) => [start, end] as const;

/** Without the lines that both texts begin and end with. */
function trim(before: readonly string[], after: readonly string[]): Block {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let tail = 0;
  while (tail < shorter - start && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  return { old: { start, end: before.length - tail }, new: { start, end: after.length - tail } };
}

/** Some of the lines of a text: what each says, as a number, and its place in the text. */
interface Lines {
  numbers: number[];
  places: number[];
}

/** The lines that both texts have somewhere: no other can be matched, and without them little is left of most texts. */
function commonOf(before: readonly string[], after: readonly string[]): [Lines, Lines] {
  const numbers = new Map<string, number>();
  for (const line of before) if (!numbers.has(line)) numbers.set(line, numbers.size);
  const seen = new Set<number>();
  const [old, now]: [Lines, Lines] = [
    { numbers: [], places: [] },
    { numbers: [], places: [] },
  ];
  for (const [place, line] of after.entries()) {
    const number = numbers.get(line);
    if (number === undefined) continue;
    seen.add(number);
    now.numbers.push(number);
    now.places.push(place);
  }
  for (const [place, line] of before.entries()) {
    const number = numbers.get(line) ?? 0;
    if (!seen.has(number)) continue;
    old.numbers.push(number);
    old.places.push(place);
  }
  return [old, now];
}

/** The places of the lines that stay, in order; none if finding them is too much work. */
function matchLines([old, now]: readonly [Lines, Lines]): [number, number][] {
  const pairs: [number, number][] = [];
  let [from, to] = [0, 0];
  for (const { count, added, removed } of compare(old.numbers, now.numbers) ?? []) {
    for (let index = 0; !added && !removed && index < count; index += 1)
      pairs.push([old.places[from + index] ?? 0, now.places[to + index] ?? 0]);
    if (!added) from += count;
    if (!removed) to += count;
  }
  return pairs;
}

class TooMuchWork extends Error {}

function compare(old: number[], now: number[]) {
  let work = 0;
  const comparator = (left: number, right: number): boolean => {
    const isEqual = left === right;
    // After a line that differs, another way is tried; equal lines only continue one.
    work += isEqual ? 1 : WORK_OF_DIFFERENCE;
    if (work > MOST_WORK) throw new TooMuchWork();
    return isEqual;
  };
  try {
    return diffArrays(old, now, { comparator });
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}

const WORK_OF_DIFFERENCE = 8;
/** About a quarter of a second: texts with 1,000 changes, not counting lines that only one of them has. */
const MOST_WORK = 4_000_000;
