import { canAskMore } from '../approval/approval-need.ts';
import { isForbidden } from '../approval/call-need.ts';
import { forbidden, type Refusal, recordShown } from '../approval/refusals.ts';
import { type BatchCall, judge } from '../batch-call.ts';
import { DENIED_BEFORE, NOBODY_FOR_REPEATS, repeatedInVain } from '../result-texts.ts';
import type { RunContext } from '../run-context.ts';
import { SAME_RESULTS, timesOf } from './repeats.ts';

/** Refuses the calls that only repeat earlier ones, with words for the model. Returns the others. */
export async function stopRepeats(run: RunContext, batch: readonly BatchCall[]): Promise<BatchCall[]> {
  const asked = run.progress.approval?.digests ?? {};
  const stopped = new Map<BatchCall, Refusal>();
  for (const item of batch) {
    const refusal = refusalOf(run, item, Object.hasOwn(asked, item.call.id));
    if (refusal) stopped.set(item, refusal);
  }
  await recordShown(run, stopped);
  return batch.filter((item) => !stopped.has(item));
}

/** `isAsked`: a person is or was asked about this very repetition. */
function refusalOf(run: RunContext, item: BatchCall, isAsked: boolean): Refusal | undefined {
  const verdict = judge(run, item);
  // Nobody could allow it, so the words about questions would be wrong.
  if (verdict !== 'run' && !isAsked && isForbidden(run, item)) return { ...forbidden(run, item), as: 'stopped' };
  switch (verdict) {
    case 'run':
      return undefined;
    case 'denied':
      return { output: DENIED_BEFORE, outcome: 'denied', as: 'stopped' };
    case 'stop':
      return {
        output: repeatedInVain(timesOf(run.progress.repeats, item.keys.call)),
        outcome: 'blocked',
        as: 'stopped',
      };
    case 'ask': {
      const isPossible = isAsked || (item.prepared.kind === 'ready' && canAskMore(run));
      return isPossible ? undefined : { output: NOBODY_FOR_REPEATS, outcome: 'blocked', as: 'stopped' };
    }
  }
}

/**
 * Separates the calls that may run now from those that wait: of identical calls, no more run at once than may have the
 * same result.
 */
export function takeWave(run: RunContext, calls: readonly BatchCall[]): { now: BatchCall[]; later: BatchCall[] } {
  const started = new Map<string, number>();
  const now = calls.filter((item) => {
    const { call } = item.keys;
    const before = started.get(call) ?? timesOf(run.progress.repeats, call);
    if (before >= SAME_RESULTS && judge(run, item) !== 'ask') return false;
    started.set(call, before + 1);
    return true;
  });
  return { now, later: calls.filter((item) => !now.includes(item)) };
}
