import { decide } from './approval/approval-need.ts';
import { isForbidden, isReasonToAsk } from './approval/call-need.ts';
import { settleUnknownOutcomes } from './approval/interrupted-calls.ts';
import {
  CHANGED,
  cannotRun,
  denialOf,
  forbidden,
  hasUnknownOutcome,
  mayHaveHadEffect,
  type Refusal,
  recordRefusals,
  recordShown,
} from './approval/refusals.ts';
import { type BatchCall, prepareAll } from './batch-call.ts';
import { executeAll } from './execute.ts';
import { withdrawLostInputs } from './inputs/ask-input.ts';
import { withdrawWaiting } from './inputs/withdraw.ts';
import { type Decision, openCalls } from './journal.ts';
import { stopRepeats, takeWave } from './limits/stop-repeats.ts';
import { settleReturned } from './record-result.ts';
import { CUT_CALL, NOT_AS_APPROVED, outcomeUnknown } from './result-texts.ts';
import type { RunContext } from './run-context.ts';

/**
 * Produces a result for every call of the current turn: prepare, ask where needed, execute. Continues where a restart
 * interrupted it. `prepared`: the calls of an answer that was just stored. Rejects with the signal's reason when the run
 * is stopped; finished results are recorded.
 */
export async function runBatch(run: RunContext, prepared?: readonly BatchCall[]): Promise<void> {
  if (!prepared) await withdrawLostInputs(run);
  const unfinished = prepared ?? (await prepareAll(run, openCalls(run.progress)));
  const batch = await settleReturned(run, unfinished);
  if (batch.some((item) => hasUnknownOutcome(run, item))) await withdrawWaiting(run);
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
  const batch = await prepareAll(run, openCalls(run.progress));
  await recordShown(run, new Map(batch.map((item) => [item, cannotRun(CUT_CALL)])));
}

async function settle(run: RunContext, open: BatchCall[]): Promise<void> {
  const decision = await decide(run, open);
  if (!decision.approved)
    return recordRefusals(run, open, (item) => denialOf(run, item, { decision, wasAsked: isReasonToAsk(run, item) }));
  const left = new Set(openCalls(run.progress).map(({ id }) => id)); // without the calls that the policy refused
  const { runnable, refused, blocked } = sortOut(
    run,
    open.filter(({ call }) => left.has(call.id)),
    decision,
  );
  await recordShown(run, blocked);
  await recordRefusals(run, [...refused.keys()], (item) => refused.get(item) ?? CHANGED);
  for (let left = runnable; left.length > 0; ) {
    const { now, later } = takeWave(run, left);
    await executeAll(run, now);
    left = later.length > 0 ? await stopRepeats(run, later) : [];
  }
}

interface Sorted {
  runnable: BatchCall[];
  refused: Map<BatchCall, Refusal>;
  /** By a tool policy, perhaps since the question. */
  blocked: Map<BatchCall, Refusal>;
}

/**
 * Separates the calls that may run from refused ones: forbidden and malformed calls, and calls that differ from what was
 * approved.
 */
function sortOut(run: RunContext, batch: BatchCall[], decision: Decision): Sorted {
  const shown = { ...run.progress.approval?.digests, ...run.progress.outcomeApproval?.digests };
  const sorted: Sorted = { runnable: [], refused: new Map(), blocked: new Map() };
  for (const item of batch) {
    const approved = shown[item.call.id];
    // Without a digest, it was shown as blocked by a policy that is gone now; nobody has approved it.
    if (isForbidden(run, item) || approved === undefined) sorted.blocked.set(item, forbidden(run, item));
    else if (isDenied(decision, item)) sorted.refused.set(item, denialOf(run, item, { decision, wasAsked: true }));
    else if (item.prepared.kind === 'refused') sorted.refused.set(item, notRun(run, item, item.prepared.reason));
    else if (approved === item.keys.digest) sorted.runnable.push(item);
    else sorted.refused.set(item, notRun(run, item, NOT_AS_APPROVED));
  }
  return sorted;
}

/** A call that a kill interrupted may have done a part of its work, so that "not run" would be wrong. */
const notRun = (run: RunContext, item: BatchCall, reason: string): Refusal =>
  mayHaveHadEffect(run, item) ? { output: outcomeUnknown(reason), outcome: 'unknown' } : cannotRun(reason);

/** A person denied this call, and approved others of the batch. */
const isDenied = ({ denied = {} }: Decision, { call }: BatchCall): boolean => Object.hasOwn(denied, call.id);

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
    messages: [{ role: 'user', content: feedback, trusted: true, feedback: true }],
  });
}
