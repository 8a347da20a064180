import { createHash } from 'node:crypto';
import { GatewayError } from '../../../../protocol/errors.ts';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import { type AskedPlan, MOST_REVISIONS } from '../../../../protocol/events/questions/asked-plan.ts';
import { toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { ProviderError } from '../../providers/model.ts';
import { StopReason } from '../../stop-reason.ts';
import type { ToolOutcome } from '../../tools/tool.ts';
import { hasExpired } from '../approval/approval-expiry.ts';
import { policyInForce } from '../approval/unattended-policy.ts';
import type { BatchCall } from '../batch-call.ts';
import { oneQuestion } from '../inputs/one-question.ts';
import { isWithdrawn } from '../inputs/withdraw.ts';
import type { AskedApproval, Decision } from '../journal.ts';
import { BudgetUsedUp } from '../limits/budget-used-up.ts';
import { nobodyToApprove } from '../result-texts.ts';
import type { RunContext } from '../run-context.ts';
import type { JournaledPlan } from './journaled-plan.ts';
import { planOutcome } from './plan-outcome.ts';
import { stepsOf } from './plan-text.ts';
import { Planner, PlannerFailed } from './planner.ts';

/**
 * Has a plan made and puts it to a person, again after each revision, until they approve or reject it. What was asked and
 * decided is in the journal, so a restart continues there; exploring begins anew. Rejects when the daemon stops.
 */
export async function reviewPlan(run: RunContext, item: BatchCall, goal: string): Promise<ToolOutcome> {
  const planner = new Planner(run, item.call.id);
  try {
    const outcome = await review(run, { item, goal, planner });
    return { ...outcome, ...(planner.taint && { taint: planner.taint }) };
  } catch (error) {
    const stop = run.signal.aborted && run.signal.reason instanceof StopReason ? run.signal.reason : undefined;
    if (stop?.kind === 'shutdown') throw stop;
    if (stop) return { output: `The plan was rejected: ${stop.message}`, outcome: 'cancelled' };
    if (!isExpected(error)) throw error;
    return { output: `There is no plan. ${error.message}`, outcome: 'failed' };
  }
}

const isExpected = (error: unknown): error is Error =>
  [ProviderError, BudgetUsedUp, PlannerFailed, GatewayError].some((kind) => error instanceof kind);

interface Reviewing {
  item: BatchCall;
  goal: string;
  planner: Planner;
}

async function review(run: RunContext, { item, goal, planner }: Reviewing): Promise<ToolOutcome> {
  const { call } = item;
  const first = run.progress.calls.find(({ name }) => name === call.name);
  if (first && first.id !== call.id) return { output: ONE_AT_A_TIME, outcome: 'failed' };
  const asked = askedAbout(run, call.id);
  if (!asked && policyInForce(run)) return { output: NOBODY_REVIEWS, outcome: 'blocked' };
  let next = asked ? askedAgain(asked) : { round: 1, content: await planner.write({ goal }) };
  for (;;) {
    const own = 'approvalId' in next ? next.approvalId : undefined;
    const { plan, decision } = await oneQuestion(run, () => ask(run, item, next), own);
    if (planOutcome(decision, plan) !== 'revised') return toOutcome(plan, decision);
    const before = { content: plan.content, feedback: decision.feedback };
    next = { round: plan.round + 1, content: await planner.write({ goal, before }) };
  }
}

type NewPlan = Pick<JournaledPlan, 'round' | 'content'>;

/** Asks, unless a restart finds the question there, and waits for the decision. */
async function ask(
  run: RunContext,
  item: BatchCall,
  about: AskedAboutPlan | NewPlan,
): Promise<{ plan: JournaledPlan; decision: Decision }> {
  const { approvalId, plan, decision } = 'approvalId' in about ? about : await put(run, item, about);
  return { plan, decision: decision ?? (await run.decision(approvalId)) };
}

const ONE_AT_A_TIME =
  'Not run: a turn has one plan. Wait for the decision about the first one, then call plan_agent again.';
const NOBODY_REVIEWS = nobodyToApprove('only a person can approve a plan');

/** The same plan in another question, if the first one was withdrawn. */
const askedAgain = (asked: AskedAboutPlan): AskedAboutPlan | NewPlan =>
  asked.decision && isWithdrawn(asked.decision) ? asked.plan : asked;

type AskedAboutPlan = AskedApproval & { plan: JournaledPlan };

/** The latest question about a plan of this call. */
function askedAbout({ progress: { planApproval } }: RunContext, callId: string): AskedAboutPlan | undefined {
  const plan = planApproval?.plan;
  return planApproval && plan?.callId === callId ? { ...planApproval, plan } : undefined;
}

/** Stores the question about a plan and shows it. */
async function put(run: RunContext, item: BatchCall, { round, content }: NewPlan): Promise<AskedAboutPlan> {
  const { id: callId } = item.call;
  const approvalId = run.ids.id('apr');
  const expiresAtMs = run.expiry.stamp();
  const shown = { content: toVisibleText(content), round, revisions_left: MOST_REVISIONS + 1 - round };
  const items = [toItem(item, shown)];
  const digests = { [callId]: createHash('sha256').update(content).digest('hex') };
  const plan: JournaledPlan = { callId, round, content };
  await run.recorder.record({
    events: [
      { type: 'approve_request', items, approval_id: approvalId, kind: 'plan', expires_at_ms: expiresAtMs },
      { type: 'ws_state', ws_id: run.wsId, state: 'attention' },
    ],
    journal: [{ kind: 'approval_asked', approvalId, question: 'plan', digests, plan }],
    approval: { approvalId, kind: 'plan', items, digests, expiresAtMs },
  });
  return { approvalId, question: 'plan', digests, plan };
}

const toItem = ({ call, prepared: { subject } }: BatchCall, plan: AskedPlan): ApprovalItem => ({
  call_id: call.id,
  header: `${call.name}: ${subject}`,
  subject,
  preview: plan.content,
  func_name: call.name,
  approval_label: 'plan_review',
  needs_approval: true,
  error: null,
  plan,
});

function toOutcome({ content }: JournaledPlan, decision: Decision): ToolOutcome {
  const { feedback } = decision;
  if (hasExpired(decision)) return { output: `The plan was rejected: ${feedback}`, outcome: 'expired' };
  if (!decision.approved) return { output: rejected(feedback), outcome: 'denied' };
  const todo = stepsOf(content);
  return {
    output: approved(content, { steps: todo.length, feedback }),
    outcome: 'done',
    ...(todo.length > 0 && { todo }),
  };
}

const rejected = (feedback: string): string =>
  `The person rejected the plan${feedback === '' ? '' : `: ${feedback}`}\nDo not carry it out. Ask what they want instead, or end here.`;

const approved = (content: string, { steps, feedback }: { steps: number; feedback: string }): string =>
  [
    'The person approved this plan. Carry it out step by step, and keep to it; if you have to leave it, say why.',
    ...(steps > 0
      ? [
          `Its ${steps} steps are your checklist now. Keep it with the tool todo: each step in_progress before you begin it, done right after it.`,
        ]
      : []),
    ...(feedback === '' ? [] : [`They add: ${feedback}`]),
    `\n${content}`,
  ].join('\n');
