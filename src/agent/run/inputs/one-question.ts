import type { Progress } from '../journal.ts';
import type { RunContext } from '../run-context.ts';

/** The latest question of each run, in order. */
const TAILS = new WeakMap<Progress, Promise<unknown>>();

/** Questions that come up while calls run are asked one after the other, because a run has one question at a time. */
export async function oneQuestion<T>({ progress }: Pick<RunContext, 'progress'>, work: () => Promise<T>): Promise<T> {
  const before = TAILS.get(progress) ?? Promise.resolve();
  const mine = before.then(work, work); // also after one that failed
  TAILS.set(progress, mine);
  return mine;
}
