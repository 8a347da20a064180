import { type Progress, pendingApproval } from '../journal.ts';
import type { RunContext } from '../run-context.ts';

type Asking = Pick<RunContext, 'progress' | 'signal' | 'decision'>;

/** The latest question of each run, in order. */
const TAILS = new WeakMap<Progress, Promise<unknown>>();

/**
 * Questions that come up while calls run are asked one after the other, because a run has one question at a time. `own`: the
 * question that `work` waits for, if a restart found it there.
 */
export async function oneQuestion<T>(run: Asking, work: () => Promise<T>, own?: string): Promise<T> {
  const { progress } = run;
  const before = TAILS.get(progress) ?? Promise.resolve();
  const asking = async () => {
    await othersDecided(run, own);
    return await work();
  };
  const mine = before.then(asking, asking); // also after one that failed
  TAILS.set(progress, mine);
  return mine;
}

/** Waits for the decision on another question that a restart found there. Rejects when the run is stopped. */
export async function othersDecided(run: Asking, own?: string): Promise<void> {
  run.signal.throwIfAborted();
  for (;;) {
    const asked = pendingApproval(run.progress);
    if (!asked || asked.approvalId === own) return;
    await run.decision(asked.approvalId);
  }
}
