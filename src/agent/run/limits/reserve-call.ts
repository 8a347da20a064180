import type { BudgetQuestion } from '../../../../protocol/run-outcome.ts';
import { budgetOf } from '../../../../protocol/text/budget-words.ts';
import type { Model } from '../../providers/model.ts';
import { policyInForce } from '../approval/unattended-policy.ts';
import type { Decision } from '../journal.ts';
import type { Step } from '../recorder.ts';
import type { RunContext } from '../run-context.ts';
import { type CallSize, sizeOf } from './call-size.ts';
import type { Held } from './run-budget.ts';

/** A budget is used up, and nobody agreed to spend more. */
export class BudgetUsedUp extends Error {
  override readonly name = 'BudgetUsedUp';

  constructor(question: BudgetQuestion, decision: Decision | undefined) {
    super(`${budgetOf(question)} is used up${whyNoMore(decision)}.`);
  }
}

function whyNoMore(decision: Decision | undefined): string {
  if (decision === undefined) return ', and nobody is there to allow more';
  if (decision.by.kind === 'timeout') return ', and nobody decided in time whether to spend more';
  return decision.feedback === '' ? ', and the run was stopped' : `, and the run was stopped: ${decision.feedback}`;
}

/** A call that may be made, and its part of the step that records it. */
export interface ReservedCall {
  held: Held | undefined;
  step: Pick<Step, 'reserved'>;
}

/** Reserves what the next call may cost. Asks a person if a budget is used up; throws BudgetUsedUp if it stays so. */
export async function reserveCall(run: RunContext, model: Model): Promise<ReservedCall> {
  await settleOpenQuestion(run);
  const { provider, modelId, price } = model;
  const called = { provider, modelId, ...(price && { price }) };
  if (!run.budget.isLimited(called)) return { held: undefined, step: {} };
  // It may have to wait for other calls.
  await run.recorder.record({ events: [{ type: 'ws_state', ws_id: run.wsId, state: 'thinking' }] });
  let known: CallSize | undefined;
  const size = () => {
    known ??= sizeOf(run.messages, model);
    return known;
  };
  for (;;) {
    const held = await run.budget.reserve({ model: called, size }, run.signal);
    if (held.kind === 'held') return { held, step: { reserved: { expected: size().expected, model: called } } };
    await ask(run, held.question);
  }
}

/** A question that a restart interrupted is not asked again. */
async function settleOpenQuestion(run: RunContext): Promise<void> {
  const asked = run.progress.budgetApproval;
  if (!asked?.budget) return;
  const decision = asked.decision ?? (await run.decision(asked.approvalId));
  if (!decision.approved) throw new BudgetUsedUp(asked.budget, decision);
}

async function ask(run: RunContext, budget: BudgetQuestion): Promise<void> {
  if (policyInForce(run)) throw new BudgetUsedUp(budget, undefined);
  const approvalId = run.ids.id('apr');
  const expiresAtMs = run.expiry.stamp();
  await run.recorder.record({
    events: [
      { type: 'info', message: `${budgetOf(budget)} is used up.` },
      {
        type: 'approve_request',
        items: [],
        approval_id: approvalId,
        kind: 'budget',
        budget,
        expires_at_ms: expiresAtMs,
      },
      { type: 'ws_state', ws_id: run.wsId, state: 'attention' },
    ],
    journal: [{ kind: 'approval_asked', approvalId, question: 'budget', digests: {}, budget }],
    approval: { approvalId, kind: 'budget', items: [], digests: {}, budget, expiresAtMs },
  });
  const decision = await run.decision(approvalId);
  if (!decision.approved) throw new BudgetUsedUp(budget, decision);
}
