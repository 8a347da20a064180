import type { Lab } from './lab.ts';

/** One sentence of PROTOCOL.md that shows from outside, and how it is tried. */
export interface ConformanceCase {
  /** The sentence, as it stands there without its number and full stop. */
  must: string;
  /** Mostly waits: runs beside the others. */
  slow?: true;
  /** Throws Violation where it does not hold, Inapplicable where it cannot be tried. */
  run(lab: Lab): Promise<void>;
}
