import { GatewayError } from '../../../protocol/errors.ts';
import type { ApprovalExpiry } from '../../agent/run/approval/approval-expiry.ts';
import type { Decision } from '../../agent/run/journal.ts';
import { RunSuperseded } from '../../agent/run/recorder.ts';
import { isUnavailable } from '../../is-unavailable.ts';
import { until } from '../../timing/until.ts';
import type { LiveRun } from '../runs/live-run.ts';
import type { WorkstreamDeps } from '../workstreams/workstream-deps.ts';

/** A run, or a sub-agent of one. */
type Asker = Pick<LiveRun, 'pendingApprovals' | 'decide' | 'decision' | 'follow' | 'signal'>;

/** Waits for the decision on a stored question. It expires in time, and follows the answer to a question that others share. */
export async function decisionInTime(
  live: Asker,
  approvalId: string,
  { expiry, deps }: { expiry: ApprovalExpiry; deps: Pick<WorkstreamDeps, 'budgets' | 'clock' | 'log'> },
): Promise<Decision> {
  const answered = new AbortController();
  const expiresAtMs = live.pendingApprovals().find((asked) => asked.approvalId === approvalId)?.expiresAtMs;
  const shared = deps.budgets.questions.answerTo(approvalId);
  const deny = (denial: Decision) =>
    live
      .decide(approvalId, () => denial)
      .catch((error: unknown) => {
        if (!shared || !isConflict(error)) throw error; // another run has just recorded the same
      });
  const over = AbortSignal.any([answered.signal, live.signal]);
  if (shared !== undefined) void follow(live, { approvalId, answer: shared, over, deps });
  void expiry.enforce({ approvalId, expiresAtMs, deny }, over);
  try {
    return await live.decision(approvalId);
  } finally {
    answered.abort('answered');
  }
}

/** The decision on a question whose answer nobody waits for any more. */
export const WITHDRAWN: Decision = { approved: false, feedback: '', always: false, by: { kind: 'cancel' } };

const isConflict = (error: unknown) => error instanceof GatewayError && error.code === 'CONFLICT';

const RETRY_MS = 1_000;

/** Records the answer to a question that other runs share, as soon as it is given to any of them. Never rejects. */
async function follow(
  live: Asker,
  asked: {
    approvalId: string;
    answer: Promise<Decision>;
    over: AbortSignal;
    deps: Pick<WorkstreamDeps, 'clock' | 'log'>;
  },
): Promise<void> {
  const { approvalId, over, deps } = asked;
  try {
    const decision = await until(asked.answer, over);
    for (;;) {
      try {
        return await live.follow(approvalId, decision);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        deps.log.warn({ err: error, approvalId }, 'a decision could not be recorded for a run; retrying');
      }
      await deps.clock.sleep(RETRY_MS, over);
    }
  } catch (error) {
    if (over.aborted || error instanceof RunSuperseded) return;
    deps.log.error({ err: error, approvalId }, 'a run could not follow a decision');
  }
}
