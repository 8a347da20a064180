import { decide } from './approval/approval-need.ts';
import { hasUnknownOutcome, settleUnknownOutcomes } from './approval/interrupted-calls.ts';
import { CHANGED, cannotRun, denialOf, type Refusal, recordRefusals } from './approval/refusals.ts';
import { type BatchCall, prepareCall } from './batch-call.ts';
import { executeAll } from './execute.ts';
import { openCalls } from './journal.ts';
import type { RunContext } from './run-context.ts';

/**
 * Produces a result for every call of the current turn: prepare, ask where needed, execute. Continues where a restart
 * interrupted it. Rejects with the signal's reason when the run is stopped; finished results are recorded.
 */
export async function runBatch(run: RunContext): Promise<void> {
  const batch = await Promise.all(openCalls(run.progress).map((call) => prepareCall(run, call)));
  const skipped = await settleUnknownOutcomes(
    run,
    batch.filter((item) => hasUnknownOutcome(run, item)),
  );
  const open = batch.filter((item) => !skipped.has(item.call.id));
  if (open.length > 0) await settle(run, open);
  await recordFeedback(run);
}

async function settle(run: RunContext, open: BatchCall[]): Promise<void> {
  const decision = await decide(run, open);
  if (!decision.approved) return recordRefusals(run, open, (item) => denialOf(item, decision));
  const left = new Set(openCalls(run.progress).map(({ id }) => id)); // without the calls that the policy refused
  const { runnable, refused } = sortOut(
    run,
    open.filter(({ call }) => left.has(call.id)),
  );
  await recordRefusals(run, [...refused.keys()], (item) => refused.get(item) ?? CHANGED);
  await executeAll(run, runnable);
}

/**
 * Separates the calls that may run from refused ones: malformed calls, and calls that differ from what was approved.
 */
function sortOut(run: RunContext, batch: BatchCall[]): { runnable: BatchCall[]; refused: Map<BatchCall, Refusal> } {
  const shown = { ...run.progress.approval?.digests, ...run.progress.outcomeApproval?.digests };
  const runnable: BatchCall[] = [];
  const refused = new Map<BatchCall, Refusal>();
  for (const item of batch) {
    if (item.prepared.kind === 'refused') refused.set(item, cannotRun(item.prepared.reason));
    else if (shown[item.call.id] === item.digest) runnable.push(item);
    else refused.set(item, CHANGED);
  }
  return { runnable, refused };
}

/** Records feedback given with an approval. The model reads it as the person's next message, after the results. */
async function recordFeedback(run: RunContext): Promise<void> {
  const { approval, outcomeApproval } = run.progress;
  const feedback = [approval, outcomeApproval]
    .flatMap((asked) => (asked?.decision?.approved && asked.decision.feedback !== '' ? [asked.decision.feedback] : []))
    .join('\n');
  const isThere = run.messages.at(-1)?.role === 'user'; // already recorded before a restart
  if (feedback === '' || isThere) return;
  await run.recorder.record({
    events: [{ type: 'user_turn', message: feedback, run_id: run.runId, source: 'person' }],
    messages: [{ role: 'user', content: feedback, trusted: true }],
  });
}
