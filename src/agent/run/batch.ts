import type { ApprovalItem, StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message, ToolCall, ToolMessage } from '../message.ts';
import { approvalDigest } from '../tools/approval-digest.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { PreparedCall } from '../tools/toolbox.ts';
import { executeAll } from './execute.ts';
import { type AskedApproval, type Decision, type JournalEntry, openCalls } from './journal.ts';
import type { RunContext } from './run-context.ts';
import type { Step } from './recorder.ts';

/** One call of the batch, ready to be judged. */
export interface BatchCall {
  call: ToolCall;
  prepared: PreparedCall;
  digest: string;
}

/**
 * Brings every call of the current turn to a result: prepare, ask where needed, execute. Picks up where a restart
 * left the batch. Rejects with the signal's reason when the run is stopped; results that exist by then are recorded.
 */
export async function runBatch(run: RunContext): Promise<void> {
  const batch = await Promise.all(openCalls(run.progress).map((call) => prepareCall(run, call)));
  const skipped = await settleUnknownOutcomes(run, batch.filter((item) => hasUnknownOutcome(run, item)));
  const open = batch.filter((item) => !skipped.has(item.call.id));
  if (open.length === 0) return;
  const decision = await decide(run, open);
  if (decision.approved) {
    const [runnable, refused] = sortOut(run, open);
    await recordResults(run, refused);
    await executeAll(run, runnable);
    await recordFeedback(run, decision);
  } else {
    await recordResults(run, open.map((item) => ({ item, outcome: { output: denialOf(item, decision), isError: true } })));
  }
}

async function prepareCall(run: RunContext, call: ToolCall): Promise<BatchCall> {
  const { workdir } = run.settings;
  const context = { wsId: run.wsId, callId: call.id, workdir, history: run.messages, signal: run.signal };
  const prepared = await run.toolbox.prepare(call, context);
  const bindTo = prepared.kind === 'ready' ? prepared.bindTo : undefined;
  const digest = approvalDigest({
    tool: call.name,
    canonicalArguments: prepared.canonicalArguments,
    workdir,
    ...(bindTo !== undefined && { bindTo }),
  });
  return { call, prepared, digest };
}

/** It was running when the daemon died, and a second time could do harm. */
function hasUnknownOutcome(run: RunContext, { call }: BatchCall): boolean {
  const tool = run.progress.tools.get(call.id);
  return tool?.state === 'started' && !tool.safeToRepeat;
}

/** Asks a person what to do about calls that were cut off; answers the ids of those that are not run again. */
async function settleUnknownOutcomes(run: RunContext, unknown: BatchCall[]): Promise<Set<string>> {
  if (unknown.length === 0) return new Set();
  const decision = await askOnce(run, { asked: run.progress.outcomeApproval, kind: 'outcome', batch: unknown });
  if (decision.approved) return new Set();
  const output =
    'Outcome unknown: Headgate stopped while this ran, and it was not run again.' +
    (decision.feedback === '' ? '' : ` ${decision.feedback}`);
  await recordResults(run, unknown.map((item) => ({ item, outcome: { output, isError: true } })));
  return new Set(unknown.map(({ call }) => call.id));
}

async function decide(run: RunContext, batch: BatchCall[]): Promise<Decision> {
  const asked = run.progress.approval;
  const needsPerson = batch.some(({ prepared }) => prepared.kind === 'ready' && prepared.needsApproval);
  if (asked || (needsPerson && !run.settings.autoApprove)) return askOnce(run, { asked, kind: 'tools', batch });
  await run.recorder.record({
    events: [
      { type: 'tool_info', items: batch.map((item) => toItem(run, item)) },
      { type: 'ws_state', ws_id: run.wsId, state: 'running' },
    ],
    journal: [{ kind: 'batch_cleared', digests: digestsOf(batch) }],
  });
  return { approved: true, feedback: '', always: false, by: 'policy' };
}

interface Question {
  asked: AskedApproval | undefined;
  kind: 'tools' | 'outcome';
  batch: BatchCall[];
}

/** A question that a restart interrupted keeps its id: nobody has to be asked again. */
async function askOnce(run: RunContext, { asked, kind, batch }: Question): Promise<Decision> {
  if (asked?.decision) return asked.decision;
  if (asked) return run.decision(asked.approvalId);
  const approvalId = run.ids.id('apr');
  const items = batch.map((item) => toItem(run, item));
  const digests = digestsOf(batch);
  const expiresAtMs = run.clock.now() + run.approvalMs;
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

function toItem(run: RunContext, { call, prepared }: BatchCall): ApprovalItem {
  const ready = prepared.kind === 'ready' ? prepared : undefined;
  return {
    call_id: call.id,
    header: prepared.header,
    preview: ready?.preview ?? '',
    func_name: call.name,
    approval_label: ready?.approvalLabel ?? call.name,
    needs_approval: ready?.needsApproval ?? false,
    error: prepared.kind === 'refused' ? prepared.reason : null,
    ...(call.name === 'bash' && run.notSandboxed !== undefined && { not_sandboxed: run.notSandboxed }),
  };
}

interface Result {
  item: BatchCall;
  outcome: ToolOutcome;
}

/** What may run, and what may not: malformed calls, and calls that are no longer what was approved. */
function sortOut(run: RunContext, batch: BatchCall[]): [BatchCall[], Result[]] {
  const shown = { ...run.progress.approval?.digests, ...run.progress.outcomeApproval?.digests };
  const runnable: BatchCall[] = [];
  const refused: Result[] = [];
  for (const item of batch) {
    const reason =
      item.prepared.kind === 'refused' ? item.prepared.reason : shown[item.call.id] === item.digest ? undefined : CHANGED;
    if (reason === undefined) runnable.push(item);
    else refused.push({ item, outcome: { output: reason, isError: true } });
  }
  return [runnable, refused];
}

const CHANGED = 'Not run: it is no longer what was approved (a file or the working directory changed meanwhile).';

function denialOf({ prepared }: BatchCall, decision: Decision): string {
  if (prepared.kind === 'refused') return prepared.reason;
  if (decision.by === 'timeout') return decision.feedback;
  return decision.feedback === '' ? 'Denied by user' : `Denied by user: ${decision.feedback}`;
}

async function recordResults(run: RunContext, results: Result[]): Promise<void> {
  if (results.length > 0) await run.recorder.record(resultStep(results.map(({ item, outcome }) => ({ call: item.call, outcome }))));
}

/** The step that gives calls their results: the event, the message that the model reads, the journal's line. */
export function resultStep(results: { call: ToolCall; outcome: ToolOutcome }[]): Step {
  const events: StreamEvent[] = [];
  const messages: Message[] = [];
  const journal: JournalEntry[] = [];
  for (const { call, outcome } of results) {
    const { output, isError, files } = outcome;
    events.push({ type: 'tool_result', call_id: call.id, name: call.name, output, is_error: isError });
    messages.push({ role: 'tool', callId: call.id, name: call.name, output, isError, ...(files && { files }) } satisfies ToolMessage);
    journal.push({ kind: 'tool_finished', callId: call.id });
  }
  return { events, messages, journal };
}

/** Approved with a remark: the model reads it as the person's next message, after the results. */
async function recordFeedback(run: RunContext, { approved, feedback }: Decision): Promise<void> {
  if (!approved || feedback === '' || run.messages.at(-1)?.role === 'user') return;
  await run.recorder.record({
    events: [{ type: 'user_turn', message: feedback, run_id: run.runId, source: 'person' }],
    messages: [{ role: 'user', content: feedback }],
  });
}
