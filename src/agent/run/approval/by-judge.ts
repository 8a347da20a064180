import { isRecord } from '../../../../protocol/is-record.ts';
import type { Advice, Assessment } from '../../judge/assessment.ts';
import { judgeCall } from '../../judge/heuristic/judge-call.ts';
import type { BatchCall } from '../batch-call.ts';
import type { RuledRun } from '../run-context.ts';
import type { CallRuling } from './call-ruling.ts';
import { taintIn } from './taint.ts';
import { policyInForce } from './unattended-policy.ts';

/** The rules of the judge say the same about a call each time, and are asked several times. */
const ASSESSMENTS = new WeakMap<BatchCall, Assessment>();

/** How the rules of the judge rate a call; undefined while the judge is off, and for calls that cannot run. */
export function assessmentOf({ judge }: Pick<RuledRun, 'judge'>, item: BatchCall): Assessment | undefined {
  const { call, prepared, places } = item;
  if (judge === undefined || prepared.kind !== 'ready' || prepared.question) return undefined;
  const known = ASSESSMENTS.get(item);
  if (known) return known;
  const assessment = judgeCall({
    tool: call.name,
    label: prepared.approvalLabel,
    args: argumentsOf(prepared.canonicalArguments),
    reading: prepared.reading,
    around: { folder: places.folder, home: judge.home },
  });
  ASSESSMENTS.set(item, assessment);
  return assessment;
}

/** The arguments of a call as parsed; empty if they could not be. */
export function argumentsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // malformed arguments are refused
  }
}

/** Whether advice is enough to run a call. */
export const isApproval = ({ level, confidence, recommendation }: Advice, threshold: number): boolean =>
  recommendation === 'approve' && level !== 'critical' && confidence >= threshold;

/**
 * What the judge decides in the mode `auto` about a call that only its tool asks about (decision 85); undefined: nothing. It
 * needs the approval of its rules, and of its model if it has one, which comes with the question. After untrusted content, it
 * approves nothing: what it would read was perhaps written to persuade it.
 */
export function rulingByJudge(run: RuledRun, item: BatchCall): CallRuling | undefined {
  const { judge, settings, messages } = run;
  // Where a policy answers for people, it answers for the judge, too.
  if (settings.mode !== 'auto' || judge === undefined || policyInForce(run) !== undefined) return undefined;
  const assessment = assessmentOf(run, item);
  if (assessment === undefined || !isApproval(assessment, judge.threshold)) return undefined;
  const taint = taintIn(messages);
  if (taint) return { verdict: 'ask', reason: 'tainted', taint };
  return judge.usesModel ? { verdict: 'ask', reason: 'tool', awaitsJudge: true } : APPROVED_BY_JUDGE;
}

/** The ruling about a call that the judge has approved. */
export const APPROVED_BY_JUDGE: CallRuling = { verdict: 'run', reason: 'judge', auto: 'smart_approval' };
