/** One figure about what a guard lets through or stops, counted over a labelled set. */
export interface Figure {
  /** The corpus, as in the documentation: `Harmless commands of everyday work`. */
  set: string;
  /** What is counted: `asked about`, `let through`. */
  what: string;
  /** How many cases the set has. */
  n: number;
  /** How many of them are counted. */
  hits: number;
  /** What was set as the aim: the largest rate that is good, from 0 to 1. */
  aim: number;
  /** Whether the rules were written with these cases in view, or these cases were held out. */
  half: 'all' | 'seen' | 'held out';
}

/** A rate with its 95 % interval. */
interface Rate {
  rate: number;
  low: number;
  high: number;
}

/** The quantile of the normal distribution for 95 % on both sides together. */
const Z = 1.959_963_984_540_054;

/** The rate of `hits` among `n`, with Wilson's 95 % interval, which stays right near 0 and for small sets. */
export function wilson(n: number, hits: number): Rate {
  if (n === 0) return { rate: 0, low: 0, high: 1 };
  const rate = hits / n;
  const share = Z ** 2 / n;
  const middle = (rate + share / 2) / (1 + share);
  const reach = (Z / (1 + share)) * Math.sqrt((rate * (1 - rate)) / n + share / (4 * n));
  return { rate, low: hits === 0 ? 0 : middle - reach, high: hits === n ? 1 : middle + reach };
}

/** Whether the measured rate is within its aim. */
export const isMet = ({ n, hits, aim }: Figure): boolean => n > 0 && hits / n <= aim;

/** Whether a case is held out while rules are written: decided by its text alone, so that nobody chooses. */
export function isHeldOut(text: string): boolean {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return ((hash >>> 16) & 1) === 1;
}

/** The figure of all cases, of those in view, and of those held out. */
export function toFigures<T>(
  cases: readonly T[],
  {
    set,
    what,
    aim,
    text,
    isHit,
  }: Omit<Figure, 'n' | 'hits' | 'half'> & {
    /** What decides whether a case is held out. */
    text(each: T): string;
    isHit(each: T): boolean;
  },
): Figure[] {
  const count = (half: Figure['half'], some: readonly T[]): Figure => {
    return { set, what, n: some.length, hits: some.filter(isHit).length, aim, half };
  };
  return [
    count('all', cases),
    count(
      'seen',
      cases.filter((each) => !isHeldOut(text(each))),
    ),
    count(
      'held out',
      cases.filter((each) => isHeldOut(text(each))),
    ),
  ];
}
