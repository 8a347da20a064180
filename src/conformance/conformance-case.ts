import type { Lab } from './lab.ts';

/** One sentence of PROTOCOL.md that can be observed from outside, and its test. */
export interface ConformanceCase {
  /** The sentence, without its number and full stop. */
  must: string;
  /** The case mostly waits, so it runs in parallel with the others. */
  slow?: true;
  /** Throws Violation if the sentence does not hold, Inapplicable if it cannot be tested. */
  run(lab: Lab): Promise<void>;
}
