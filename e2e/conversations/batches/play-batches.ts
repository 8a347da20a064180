import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Outcome } from '../simulate.ts';

interface Wish {
  /** The first seed. */
  seed: number;
  count: number;
}

/** Daemons that are killed in a simulation stay in memory with all they wait for, about a megabyte per conversation. */
const MOST = 250;

/**
 * Plays many conversations, some in each process. Returns the seeds of those that never ended: nothing was left that could
 * go on in their process.
 */
export async function playBatches({ seed, count }: Wish, take: (outcome: Outcome) => void): Promise<number[]> {
  const batches = Array.from({ length: Math.ceil(count / MOST) }, (_, index) => ({
    seed: seed + index * MOST,
    count: Math.min(MOST, count - index * MOST),
  }));
  const lost: number[] = [];
  const lane = async () => {
    for (let next = batches.shift(); next; next = batches.shift()) lost.push(...(await play(next, take)));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return lost;
}

async function play({ seed, count }: Wish, take: (outcome: Outcome) => void): Promise<number[]> {
  const left = new Set(Array.from({ length: count }, (_, index) => seed + index));
  const batch = fork(new URL('./batch.ts', import.meta.url), [String(seed), String(count)]);
  batch.on('message', (outcome: Outcome) => {
    left.delete(outcome.seed);
    take(outcome);
  });
  await once(batch, 'close');
  return [...left];
}
