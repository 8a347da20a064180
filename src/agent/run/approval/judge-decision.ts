import type { Advice } from '../../judge/assessment.ts';
import { type BatchCall, judge as judgeRepeats } from '../batch-call.ts';
import type { Decision } from '../journal.ts';
import type { RunContext } from '../run-context.ts';
import { isApproval } from './by-judge.ts';
import { rulingOf } from './ruling.ts';

/**
 * The decision that the verdicts of the judge's model give about the open question, as rules, mode and conversation are now;
 * undefined: a person decides. All calls that were shown must run unasked by now or be approved, because the question has one
 * answer, and nobody should find a part of it decided.
 */
export function decisionByJudge(
  run: RunContext,
  batch: readonly BatchCall[],
  verdicts: ReadonlyMap<string, Advice>,
): Decision | undefined {
  const digests = run.progress.approval?.digests ?? {};
  const shown = batch.filter(({ call }) => Object.hasOwn(digests, call.id)); // without those that were blocked
  const mayRun = (item: BatchCall): boolean => {
    // After a restart, a file may have changed: the verdict was about what it was.
    if (judgeRepeats(run, item) === 'ask' || digests[item.call.id] !== item.keys.digest) return false;
    const { verdict, awaitsJudge } = rulingOf(run, item);
    return verdict === 'run' || (awaitsJudge === true && isApproved(run, verdicts.get(item.call.id)));
  };
  const isAwaited = shown.some((item) => rulingOf(run, item).awaitsJudge === true);
  return isAwaited && shown.every(mayRun) ? APPROVED : undefined;
}

const APPROVED: Decision = { approved: true, feedback: '', always: false, by: { kind: 'judge' } };

const isApproved = ({ judge }: RunContext, advice: Advice | undefined): boolean =>
  judge !== undefined && advice !== undefined && isApproval(advice, judge.threshold);
