import { type BatchCall, judge } from '../batch-call.ts';
import type { Decision } from '../journal.ts';
import type { Step } from '../recorder.ts';
import type { RunContext } from '../run-context.ts';
import { aboutCalls, askOnce, digestsOf } from './ask-once.ts';
import { isForbidden, isReasonToAsk, rememberRulings } from './call-need.ts';
import { decisionByJudge } from './judge-decision.ts';
import { blockedBy, blockedByAsking, forbidden, type Refusal, refusalStep } from './refusals.ts';
import { rulingOf } from './ruling.ts';
import { toItem } from './to-item.ts';
import { policyInForce, type UnattendedPolicy } from './unattended-policy.ts';

/** Whether the calls may run: asks a person if a call needs it and neither auto-approve nor a policy decides. */
export async function decide(run: RunContext, batch: BatchCall[]): Promise<Decision> {
  const asked = run.progress.approval;
  rememberRulings(run, batch);
  if (asked?.decision) return asked.decision;
  const needing = batch.filter((item) => isReasonToAsk(run, item));
  const policy = policyInForce(run);
  if (asked || (needing.length > 0 && !policy))
    return askOnce(run, {
      asked,
      kind: 'tools',
      ...aboutCalls(run, batch),
      byJudge: (verdicts) => decisionByJudge(run, batch, verdicts),
    });
  const refused = new Map([
    ...batch.filter((item) => isForbidden(run, item)).map((item) => [item, forbidden(run, item)] as const),
    ...(policy ? needing.map((item) => [item, unattended(run, item, policy)] as const) : []),
  ]);
  const cleared = clearingStep(
    run,
    batch,
    batch.filter((item) => !refused.has(item)),
  );
  const { events = [], journal = [], messages = [] } = refusalStep(run, refused);
  await run.recorder.record({
    events: [...cleared.events, ...events],
    messages,
    journal: [...cleared.journal, ...journal],
  });
  return { approved: true, feedback: '', always: false, by: { kind: 'policy' } };
}

export type Clearing = Required<Pick<Step, 'events' | 'journal'>>;

/** Shows the calls of a batch, and lets those run that may. */
const clearingStep = (run: RunContext, batch: BatchCall[], runnable: BatchCall[]): Clearing => ({
  events: [
    { type: 'tool_info', items: batch.map((item) => toItem(run, item)) },
    { type: 'ws_state', ws_id: run.wsId, state: 'running' },
  ],
  journal: [{ kind: 'batch_cleared', digests: digestsOf(runnable) }],
});

/**
 * Clears calls in the step that stores their answer, which saves a write before they start. Undefined if one of them
 * needs more than that: a question, a refusal, words about repetitions.
 */
export function clearAtOnce(run: RunContext, batch: BatchCall[]): Clearing | undefined {
  const isClear = batch.every((item) => judge(run, item) === 'run' && rulingOf(run, item).verdict === 'run');
  return isClear ? clearingStep(run, batch, batch) : undefined;
}

function unattended(run: RunContext, item: BatchCall, policy: UnattendedPolicy): Refusal {
  const ruling = rulingOf(run, item);
  return ruling.reason === 'tool' ? blockedBy(policy) : blockedByAsking(item, ruling);
}

/** Whether somebody can be asked about more than approvals of calls. With auto-approve nobody expects questions. */
export const canAskMore = (run: RunContext): boolean =>
  policyInForce(run) === undefined && (!run.settings.autoApprove || run.isWatched());
