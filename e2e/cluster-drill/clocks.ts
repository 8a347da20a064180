import { writeFileSync } from 'node:fs';
import type { Random } from '../checker/random.ts';

/** The clock of one machine, which can be wrong. */
export interface MachineClock {
  /** What its daemon has to be started with. */
  env: Record<string, string>;
  /** It jumps at once, and stays that wrong, also for the next process. */
  setWrong(ms: number): void;
}

const PRELOADED = new URL('wrong-clock.ts', import.meta.url).href;

/** `file`: where its error is written for the daemon. It is right at first. */
export function openClock(file: string): MachineClock {
  const setWrong = (ms: number) => writeFileSync(file, String(ms));
  setWrong(0);
  return { env: { NODE_OPTIONS: `--import=${PRELOADED}`, WRONG_CLOCK: file }, setWrong };
}

/** Milliseconds: of a machine that is corrected seldom, of one that is not corrected, and of one with a wrong time zone. */
const ERRORS_MS = [
  [50, 2_000],
  [10_000, 300_000],
  [3_600_000, 7_200_000],
] as const;

/** In half of the chapters all clocks are wrong, each in its own way. */
export function setClocks(clocks: readonly MachineClock[], random: Random): { areWrong: boolean } {
  const areWrong = random.chance(0.5);
  for (const clock of clocks) {
    const [least, most] = random.pick(ERRORS_MS);
    clock.setWrong(areWrong ? random.int(least, most) * random.pick([1, -1]) : 0);
  }
  return { areWrong };
}
