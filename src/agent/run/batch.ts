import type { CallOutcome } from '../../../protocol/stream-events.ts';
import { hasExpired } from './approval-expiry.ts';
import { type ApprovalPolicy, isAllowed, refusalBy } from './approval-policy.ts';
import { type BatchCall, prepareCall, toItem } from './batch-call.ts';
import { executeAll } from './execute.ts';
import { type AskedApproval, type Decision, openCalls } from './journal.ts';
import type { Step } from './recorder.ts';
import { resultStep } from './result-step.ts';
import { deniedWith, NOT_AS_APPROVED, outcomeUnknown } from './result-texts.ts';
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
  if (!decision.approved) return recordResults(run, open, (item) => denialOf(item, decision));
  const left = new Set(openCalls(run.progress).map(({ id }) => id)); // without the calls that the policy refused
  const { runnable, refused } = sortOut(
    run,
    open.filter(({ call }) => left.has(call.id)),
  );
  await recordResults(run, [...refused.keys()], (item) => refused.get(item) ?? CHANGED);
  await executeAll(run, runnable);
}

/** Whether it was running when the daemon died, and running it again could do harm. */
function hasUnknownOutcome(run: RunContext, { call }: BatchCall): boolean {
  const tool = run.progress.tools.get(call.id);
  return tool?.state === 'started' && !tool.safeToRepeat;
}

/** Asks a person about interrupted calls. Returns the ids of those that must not run again. */
async function settleUnknownOutcomes(run: RunContext, unknown: BatchCall[]): Promise<Set<string>> {
  if (unknown.length === 0) return new Set();
  const latest = run.progress.outcomeApproval;
  // An answer is valid for one start. A call that was started since, or is new here, needs another question.
  const asked = latest && unknown.every(({ call }) => Object.hasOwn(latest.digests, call.id)) ? latest : undefined;
  const policy = asked ? undefined : policyInForce(run);
  const decision = policy ? NOBODY_ASKED : await askOnce(run, { asked, kind: 'outcome', batch: unknown });
  if (decision.approved) return new Set();
  const refusal: Refusal = { output: outcomeUnknown(decision.feedback), outcome: 'unknown' };
  await recordResults(run, unknown, () => refusal);
  return new Set(unknown.map(({ call }) => call.id));
}

/**
 * A policy that allows a tool does not allow repeating a call that may have had its effect. The model checks and calls
 * again.
 */
const NOBODY_ASKED: Decision = {
  approved: false,
  feedback: 'No approver was available.',
  always: false,
  by: { kind: 'policy' },
};

/** The policy that decides instead of a person; undefined when a person is asked. */
function policyInForce({ policy, isWatched }: RunContext): ApprovalPolicy | undefined {
  return policy === undefined || policy.mode === 'wait' || isWatched() ? undefined : policy;
}

async function decide(run: RunContext, batch: BatchCall[]): Promise<Decision> {
  const asked = run.progress.approval;
  const needing = run.settings.autoApprove ? [] : batch.filter((item) => needsPerson(run, item));
  const policy = policyInForce(run);
  if (asked || (needing.length > 0 && !policy)) return askOnce(run, { asked, kind: 'tools', batch });
  const refused = new Map(policy && needing.map((item) => [item, blockedBy(policy)]));
  const { events = [], journal = [], messages = [] } = refusalStep(refused);
  await run.recorder.record({
    events: [
      { type: 'tool_info', items: batch.map((item) => toItem(run, item)) },
      { type: 'ws_state', ws_id: run.wsId, state: 'running' },
      ...events,
    ],
    messages,
    journal: [{ kind: 'batch_cleared', digests: digestsOf(batch.filter((item) => !refused.has(item))) }, ...journal],
  });
  return { approved: true, feedback: '', always: false, by: { kind: 'policy' } };
}

const needsPerson = ({ policy }: RunContext, { call, prepared }: BatchCall): boolean =>
  prepared.kind === 'ready' && prepared.needsApproval && !isAllowed(policy, call.name);

interface Question {
  asked: AskedApproval | undefined;
  kind: 'tools' | 'outcome';
  batch: BatchCall[];
}

/** A question interrupted by a restart keeps its id, so it is not asked again. */
async function askOnce(run: RunContext, { asked, kind, batch }: Question): Promise<Decision> {
  if (asked?.decision) return asked.decision;
  if (asked) return run.decision(asked.approvalId);
  const approvalId = run.ids.id('apr');
  const items = batch.map((item) => toItem(run, item));
  const digests = digestsOf(batch);
  const expiresAtMs = run.expiry.stamp();
  await run.recorder.record({
    events: [
      { type: 'approve_request', items, approval_id: approvalId, kind, expires_at_ms: expiresAtMs },
      { type: 'ws_state', ws_id: run.wsId, state: 'attention' },
    ],
    journal: [{ kind: 'approval_asked', approvalId, question: kind, digests }],
    approval: { approvalId, kind, items, digests, expiresAtMs },
  });
  return run.decision(approvalId);
}

const digestsOf = (batch: BatchCall[]): Record<string, string> =>
  Object.fromEntries(batch.map(({ call, digest }) => [call.id, digest]));

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

/** The result of a call that is not run. */
interface Refusal {
  output: string;
  outcome: CallOutcome;
}

const cannotRun = (reason: string): Refusal => ({ output: reason, outcome: 'failed' });
const blockedBy = (policy: ApprovalPolicy): Refusal => ({ output: refusalBy(policy), outcome: 'blocked' });
const CHANGED = cannotRun(NOT_AS_APPROVED);

function denialOf({ prepared }: BatchCall, decision: Decision): Refusal {
  const { feedback } = decision;
  if (prepared.kind === 'refused') return cannotRun(prepared.reason);
  return hasExpired(decision)
    ? { output: feedback, outcome: 'expired' }
    : { output: deniedWith(feedback), outcome: 'denied' };
}

/** Records error results for calls that were not run. */
async function recordResults(run: RunContext, batch: BatchCall[], why: (item: BatchCall) => Refusal): Promise<void> {
  if (batch.length === 0) return;
  await run.recorder.record(refusalStep(batch.map((item) => [item, why(item)])));
}

const refusalStep = (refused: Iterable<readonly [BatchCall, Refusal]>): Step =>
  resultStep([...refused].map(([{ call }, result]) => ({ call, result })));

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
