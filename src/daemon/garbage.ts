import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../clock.ts';

/**
 * Lets V8 create all objects in the young generation. Otherwise it may decide, if a collection happens to find the objects of
 * many calls alive, to create them in the old one from then on. They then keep everything alive that they refer to, and
 * calls cost twice as much until the process ends: in every fifth daemon that had work to do in its first seconds.
 */
export function keepObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Does this with the options that V8 has when a start loads its code: it refuses code that was kept under others. */
export function withUsualOptions(work: () => void): void {
  setFlagsFromString('--allocation-site-pretenuring');
  try {
    work();
  } finally {
    keepObjectsYoung();
  }
}

/** How often the daemon checks whether it is idle. The first check is late enough that clients have connected after the start. */
const LOOK_MS = 10_000;
/** A daemon that worked for a larger share of that time is busy. */
const IDLE_SHARE = 0.05;

interface IdleDeps {
  clock: Pick<Clock, 'sleep'>;
  collect?: () => void;
  utilization?: typeof performance.eventLoopUtilization;
}

/** Collects the garbage of the start once the daemon has little to do: in a busy one, it would stop everything for 200 ms. */
export async function collectOnceIdle(
  { clock, collect = collectGarbage, utilization = performance.eventLoopUtilization }: IdleDeps,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const before = utilization();
    await clock.sleep(LOOK_MS, signal);
    if (utilization(before).utilization <= IDLE_SHARE) return collect();
  }
}

/**
 * Frees the memory that the start no longer needs, with the compiled code of functions that have not run for a while; V8
 * would collect it only after the heap has grown much further. Blocks for about ten milliseconds.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') return;
  setFlagsFromString('--bytecode-old-age=1');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString(`--bytecode-old-age=${USUAL_AGE}`);
}

/** How many collections code survives without being run; V8's default. */
const USUAL_AGE = 6;
