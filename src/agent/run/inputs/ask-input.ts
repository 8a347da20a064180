import { createHash } from 'node:crypto';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { toCanonicalJson } from '../../../canonical-json.ts';
import { until } from '../../../timing/until.ts';
import type { AskedInput, GivenInput, InputDesk } from '../../tools/person/asked-input.ts';
import { hasExpired } from '../approval/approval-expiry.ts';
import { policyInForce } from '../approval/unattended-policy.ts';
import type { BatchCall } from '../batch-call.ts';
import type { AskedApproval, Decision, InputApproval } from '../journal.ts';
import type { RunContext } from '../run-context.ts';
import { oneQuestion } from './one-question.ts';
import { resumedBy } from './resumed-by.ts';
import { isWithdrawn, withdraw } from './withdraw.ts';

/**
 * The questions of one execution of a call. They are stored like approvals. If the call runs again after a restart and asks
 * the same again, the earlier answers count, and a question that still waits keeps its id.
 */
export function inputDesk(run: RunContext, item: BatchCall): InputDesk {
  const { id: callId } = item.call;
  const earlier = run.progress.inputs.filter(({ input }) => input.callId === callId);
  const resumed = resumedBy(run.progress, callId);
  const counts = new Map<number, number>();
  let isOther = false;
  /** The question at the same place of an earlier execution, as long as it asks the same. */
  const known = (asked: AskedInput): InputApproval | undefined => {
    const place = counts.get(asked.round) ?? 0;
    counts.set(asked.round, place + 1);
    const found = earlier.filter(({ input }) => input.round === asked.round)[place];
    if (found?.input.digest !== digestOf(asked)) isOther = true;
    return isOther || (found?.decision && isWithdrawn(found.decision)) ? undefined : found;
  };
  return {
    resumed: resumed && { round: resumed.round, resume: resumed.resume },
    async ask(asked, signal) {
      signal.throwIfAborted();
      const before = known(asked);
      if (before?.decision) return toGiven(before.decision, callId);
      if (!before && policyInForce(run)) return { kind: 'left' };
      const work = async () => {
        signal.throwIfAborted();
        const { approvalId } = before ?? (await put(run, item, asked));
        return toGiven(await decided(run, approvalId, signal), callId);
      };
      return await oneQuestion(run, work, before?.approvalId);
    },
  };
}

/** Withdraws the questions of calls that a restart has interrupted, because nobody waits for their answers any more. */
export async function withdrawLostInputs(run: RunContext): Promise<void> {
  const { progress } = run;
  for (const { approvalId, input, decision } of progress.inputs)
    if (!decision && resumedBy(progress, input.callId)?.approvalId !== approvalId) await withdraw(run, approvalId);
}

async function decided(run: RunContext, approvalId: string, signal: AbortSignal): Promise<Decision> {
  try {
    return await until(run.decision(approvalId), signal);
  } catch (error) {
    if (!run.signal.aborted) await withdraw(run, approvalId); // the end of a run that is stopped settles its question
    throw error;
  }
}

function toGiven(decision: Decision, callId: string): GivenInput {
  const { approved, answers, denied = {} } = decision;
  if (hasExpired(decision) || isWithdrawn(decision)) return { kind: 'left' };
  if (!approved || Object.hasOwn(denied, callId)) return { kind: 'denied' };
  return { kind: 'answered', answer: answers?.[callId] ?? {} };
}

const digestOf = ({ from, question }: AskedInput): string =>
  createHash('sha256').update(toCanonicalJson({ from, question })).digest('hex');

/** Stores the question and shows it. */
async function put(run: RunContext, item: BatchCall, asked: AskedInput): Promise<AskedApproval> {
  const { id: callId } = item.call;
  const { round, resume } = asked;
  const approvalId = run.ids.id('apr');
  const expiresAtMs = run.expiry.stamp();
  const items = [toItem(item, asked)];
  const digest = digestOf(asked);
  const digests = { [callId]: digest };
  const input = { callId, digest, round, ...(resume !== undefined && { resume }) };
  await run.recorder.record({
    events: [
      { type: 'approve_request', items, approval_id: approvalId, kind: 'tools', expires_at_ms: expiresAtMs },
      { type: 'ws_state', ws_id: run.wsId, state: 'attention' },
    ],
    journal: [{ kind: 'approval_asked', approvalId, question: 'tools', digests, input }],
    approval: { approvalId, kind: 'tools', items, digests, expiresAtMs },
  });
  return { approvalId, question: 'tools', digests };
}

function toItem({ call, prepared }: BatchCall, { from, question }: AskedInput): ApprovalItem {
  const subject = toVisibleLine(from);
  const lines = question.choices.map(({ label }) => `- ${label}`);
  return {
    call_id: call.id,
    header: `${call.name}: ${subject}`,
    subject,
    preview: [question.text, ...lines].join('\n'),
    func_name: call.name,
    approval_label: prepared.kind === 'ready' ? prepared.approvalLabel : call.name,
    needs_approval: true,
    error: null,
    question,
  };
}
