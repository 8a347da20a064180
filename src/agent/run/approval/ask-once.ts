import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { QuestionKind } from '../../../../protocol/stream-events.ts';
import { suggestRules } from '../../permissions/rules/suggest-rules.ts';
import type { BatchCall } from '../batch-call.ts';
import { othersDecided } from '../inputs/one-question.ts';
import type { AskedApproval, Decision } from '../journal.ts';
import type { JudgedQuestion, RunContext } from '../run-context.ts';
import { isForbidden, isReasonToAsk } from './call-need.ts';
import { rated, verdictsOf } from './rate-call.ts';
import { isEnough } from './ruling.ts';
import { toItem } from './to-item.ts';

interface Question {
  asked: AskedApproval | undefined;
  kind: QuestionKind;
  /** What people are shown. */
  items: ApprovalItem[];
  digests: Record<string, string>;
  byJudge?: JudgedQuestion['byJudge'];
}

/** A question interrupted by a restart keeps its id, so it is not asked again. */
export async function askOnce(run: RunContext, question: Question): Promise<Decision> {
  const { asked, kind, items, digests, byJudge } = question;
  if (asked?.decision) return asked.decision;
  if (asked) return decisionOn(run, { approvalId: asked.approvalId, items, byJudge });
  await othersDecided(run);
  const approvalId = run.ids.id('apr');
  const expiresAtMs = run.expiry.stamp();
  const verdicts = verdictsOf(items);
  await run.recorder.record({
    events: [
      {
        type: 'approve_request',
        items,
        approval_id: approvalId,
        kind,
        expires_at_ms: expiresAtMs,
        ...(verdicts.length > 0 && { judge_pending: run.judge?.usesModel === true }),
      },
      { type: 'ws_state', ws_id: run.wsId, state: 'attention' },
    ],
    journal: [{ kind: 'approval_asked', approvalId, question: kind, digests }],
    approval: { approvalId, kind, items, digests, expiresAtMs },
    ...(run.judge && { verdicts: verdicts.map((each) => ({ ...each, approvalId })) }),
  });
  return decisionOn(run, { approvalId, items, byJudge });
}

/** Waits for the decision, while a model judges the calls. After a restart, it judges those that it had not. */
async function decisionOn(run: RunContext, question: JudgedQuestion): Promise<Decision> {
  const judgement = run.judge?.begin(question);
  try {
    return await run.decision(question.approvalId);
  } finally {
    judgement?.decided();
  }
}

/** The question about calls. What is shown as blocked is not approved, even if its policy goes meanwhile. */
export const aboutCalls = (run: RunContext, batch: BatchCall[]): Pick<Question, 'items' | 'digests'> => ({
  items: batch.map((item) => ({ ...toItem(run, item), ...suggested(run, item), ...rated(run, item) })),
  digests: digestsOf(batch.filter((item) => !isForbidden(run, item))),
});

/** The rules that a person may give with the decision, for calls that are asked about themselves. */
const suggested = (run: RunContext, item: BatchCall): Pick<ApprovalItem, 'rules'> =>
  isReasonToAsk(run, item) ? { rules: suggestRules(item.ruled, (match) => isEnough(run, item, match)) } : {};

export const digestsOf = (batch: BatchCall[]): Record<string, string> =>
  Object.fromEntries(batch.map(({ call, keys }) => [call.id, keys.digest]));
