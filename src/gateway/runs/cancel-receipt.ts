import type { Approval } from '../../../protocol/methods/approval.ts';
import type { CancelReceipt } from '../../../protocol/methods/workstream.ts';
import type { RunOutcome } from '../../../protocol/run-outcome.ts';
import { openCalls } from '../../agent/run/journal.ts';
import type { Step } from '../../agent/run/recorder.ts';
import { leftovers } from '../../agent/run/run.ts';
import { withBudgetCall } from '../usage/budget-item.ts';
import type { LiveRun } from './live-run.ts';
import type { QueuedRun } from './run-queue.ts';

/** What a cancel is about to stop; call the result after the stop. */
export function receiptOf(
  live: LiveRun | undefined,
  queued: QueuedRun[],
  background: readonly unknown[],
): () => CancelReceipt {
  const approval = live?.pendingApproval();
  const [first] = queued;
  const receipt: CancelReceipt = {
    wasRunning: live !== undefined,
    pendingApproval: approval ? toDenied(approval) : null,
    stoppedTools: live ? [...runningTools(live), ...live.agents.runningTools()] : [],
    ...subAgentsOf(live),
    ...(background.length > 0 && { backgroundCommands: background.length }),
    queuedMessages: { count: queued.length, firstPreview: first ? first.run.request.message.slice(0, 200) : null },
  };
  return () => withoutDecided(receipt, live);
}

/** A decision that was being stored as the cancel came may have been first. The question was not dropped then. */
function withoutDecided(receipt: CancelReceipt, live: LiveRun | undefined): CancelReceipt {
  const { pendingApproval } = receipt;
  const decision = pendingApproval ? live?.decisionOn(pendingApproval.approvalId) : undefined;
  return decision && decision.by.kind !== 'cancel' ? { ...receipt, pendingApproval: null } : receipt;
}

const subAgentsOf = (live: LiveRun | undefined): Pick<CancelReceipt, 'subAgents'> => {
  const count = live?.agents.running().length ?? 0;
  return count > 0 ? { subAgents: count } : {};
};

function toDenied(approval: Approval): NonNullable<CancelReceipt['pendingApproval']> {
  const items = withBudgetCall(approval);
  const first = items.find(({ needs_approval }) => needs_approval);
  return {
    approvalId: approval.approvalId,
    toolNames: items.map(({ func_name }) => func_name),
    ...(first && { callId: first.call_id }),
  };
}

const runningTools = ({ progress }: LiveRun): string[] =>
  openCalls(progress)
    .filter(({ id }) => progress.tools.get(id)?.state === 'started')
    .map(({ name }) => name);

/**
 * The final step of an abandoned run: `stream_end` and idle, nothing else (specification: http-and-sse, POST cancel).
 */
export function lastWord(live: LiveRun): Step {
  const { run } = live;
  const partial = live.partialAnswer();
  const outcome: RunOutcome = { run_id: run.runId, status: 'cancelled' };
  const { messages, journal, settled } = leftovers(live, outcome);
  return {
    events: [{ type: 'stream_end' }, { type: 'ws_state', ws_id: run.wsId, state: 'idle', run: outcome }],
    messages: [...(partial ? [partial] : []), ...(messages ?? [])],
    journal: [...(journal ?? []), { kind: 'ended', status: 'cancelled' }],
    ...(settled && { settled }),
    ended: { ...outcome, summary: 'cancelled' },
  };
}
