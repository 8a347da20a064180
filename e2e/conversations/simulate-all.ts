import { type Outcome, simulate } from './simulate.ts';

interface Range {
  /** The first seed. */
  seed: number;
  count: number;
  mostSteps?: number;
}

/** While one conversation waits for the disk, others go on. */
const AT_ONCE = 4;

/** Plays the conversations of a range of seeds. */
export async function simulateAll({ seed, count, ...options }: Range, take: (outcome: Outcome) => void): Promise<void> {
  let next = seed;
  const lane = async () => {
    while (next < seed + count) take(await simulate(next++, options));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
