import { decide, isReasonToAsk } from './approval/approval-need.ts';
import { hasUnknownOutcome, settleUnknownOutcomes } from './approval/interrupted-calls.ts';
import { CHANGED, cannotRun, denialOf, type Refusal, recordRefusals, refusalStep } from './approval/refusals.ts';
import { type BatchCall, prepareCall, toItem } from './batch-call.ts';
import { executeAll } from './execute.ts';
import { openCalls } from './journal.ts';
import { stopRepeats, takeWave } from './limits/stop-repeats.ts';
import { CUT_CALL } from './result-texts.ts';
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
  const open = await stopRepeats(
    run,
    batch.filter((item) => !skipped.has(item.call.id)),
  );
  if (open.length > 0) await settle(run, open);
  await recordFeedback(run);
}

/** Refuses all calls of an answer that was cut off: the arguments of the last one may be incomplete. */
export async function refuseCutBatch(run: RunContext): Promise<void> {
  const batch = await Promise.all(openCalls(run.progress).map((call) => prepareCall(run, call)));
  const items = batch.map((item) => ({ ...toItem(run, item), error: CUT_CALL }));
  const { events = [], ...step } = refusalStep(run, new Map(batch.map((item) => [item, cannotRun(CUT_CALL)])));
  await run.recorder.record({ ...step, events: [{ type: 'tool_info', items }, ...events] });
}

async function settle(run: RunContext, open: BatchCall[]): Promise<void> {
  const decision = await decide(run, open);
  if (!decision.approved)
    return recordRefusals(run, open, (item) => denialOf(item, decision, isReasonToAsk(run, item)));
  const left = new Set(openCalls(run.progress).map(({ id }) => id)); // without the calls that the policy refused
  const { runnable, refused } = sortOut(
    run,
    open.filter(({ call }) => left.has(call.id)),
  );
  await recordRefusals(run, [...refused.keys()], (item) => refused.get(item) ?? CHANGED);
  for (let left = runnable; left.length > 0; ) {
    const { now, later } = takeWave(run, left);
    await executeAll(run, now);
    left = later.length > 0 ? await stopRepeats(run, later) : [];
  }
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
    else if (shown[item.call.id] === item.keys.digest) runnable.push(item);
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
    events: [
      {
        type: 'user_turn',
        message: feedback,
        run_id: run.runId,
        source: 'person',
        seq: run.messageCount + 1,
        created_ms: run.clock.now(),
      },
    ],
    messages: [{ role: 'user', content: feedback, trusted: true }],
  });
}
