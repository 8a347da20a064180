import type { RunLimit } from '../../../protocol/run-outcome.ts';
import type { Attachment, StreamEvent } from '../../../protocol/stream-events.ts';
import { TODO_TOOL } from '../../../protocol/text/todo-words.ts';
import type { WaitEnd } from '../coordinator/wait-end.ts';
import type { Assessment } from '../guard/output-assessment.ts';
import type { CallDecision, Message, ToolCall, ToolMessage } from '../message.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { JournalEntry } from './journal.ts';
import type { CallTrace } from './limits/repeats.ts';
import type { NewAssessment, NewVerdict, Step } from './recorder.ts';

export interface ToolResult {
  call: ToolCall;
  result: ToolOutcome;
  /** Images for the model. */
  attachments?: readonly Attachment[] | undefined;
  /** If the guard reports something. */
  assessmentId?: string | undefined;
  /** Absent when the call did not run. */
  durationMs?: number;
  /** Why the call ran without the sandbox. */
  notSandboxed?: string | undefined;
  /** How it was decided about the call. */
  decision?: CallDecision | undefined;
  /** What the judge says about a call that nobody was asked about. */
  verdict?: NewVerdict | undefined;
  /** What the result brings into the conversation that nobody trusts. */
  taint?: ToolMessage['taint'];
  /** For recognising repetitions. */
  trace?: CallTrace;
  /** The run ends after one more answer; the model reads this result with the notice. */
  wrapUp?: { limit: RunLimit; notice: string };
}

/** The step that records the results of calls: event, message for the model, and journal entry. */
export function resultStep(results: ToolResult[]): Step {
  const events: StreamEvent[] = [];
  const messages: Message[] = [];
  const journal: JournalEntry[] = [];
  const assessments: NewAssessment[] = [];
  for (const one of results) {
    const { call, result, assessmentId, durationMs, notSandboxed, decision, trace, wrapUp, taint } = one;
    const { output, outcome, exitCode, files, kept, todo } = result;
    events.push({
      type: 'tool_result',
      call_id: call.id,
      name: call.name,
      output,
      outcome,
      is_error: outcome !== 'done',
      ...(exitCode !== undefined && { exit_code: exitCode }),
      ...(durationMs !== undefined && { duration_ms: durationMs }),
      ...(notSandboxed !== undefined && { not_sandboxed: notSandboxed }),
      ...(kept && { whole_bytes: kept.bytes }),
      ...toToldFields(result),
      ...filesOf(one),
    });
    const found = toAssessment(call, { result, assessmentId });
    assessments.push(...found);
    events.push(...found.map(({ warning }) => warning));
    messages.push({
      role: 'tool',
      callId: call.id,
      name: call.name,
      output,
      outcome,
      ...(exitCode !== undefined && { exitCode }),
      ...(durationMs !== undefined && { durationMs }),
      ...(notSandboxed !== undefined && { notSandboxed }),
      ...(files && { files }),
      ...(kept && { kept }),
      ...(todo && call.name !== TODO_TOOL && { todo }),
      ...(wrapUp && { notice: wrapUp.notice }),
      ...stated({ decision, taint, result }),
      ...filesOf(one),
    } satisfies ToolMessage);
    journal.push(toFinished(call, { trace, limit: wrapUp?.limit, waited: result.waited }));
  }
  return { events, messages, journal, assessments, ...storedWith(results) };
}

/** Verdicts and files; each is absent if there is none. */
function storedWith(results: readonly ToolResult[]): Pick<Step, 'attachments' | 'verdicts'> {
  const verdicts = results.flatMap(({ verdict }) => verdict ?? []);
  const files = results.flatMap(({ attachments }) => attachments ?? []);
  return { ...(verdicts.length > 0 && { verdicts }), ...(files.length > 0 && { attachments: files }) };
}

/** At most one. */
const toAssessment = (
  call: ToolCall,
  { result: { assessment }, assessmentId }: Pick<ToolResult, 'result' | 'assessmentId'>,
): NewAssessment[] =>
  assessment && assessmentId !== undefined ? [{ assessmentId, warning: toWarning(call, assessment) }] : [];

const toWarning = ({ id, name }: ToolCall, found: Assessment): NewAssessment['warning'] => ({
  type: 'output_warning',
  call_id: id,
  func_name: name,
  flags: found.flags,
  risk_level: found.risk,
  annotations: found.annotations,
  output_length: found.length,
  redacted: found.isRedacted,
});

const toFinished = (
  { id: callId }: ToolCall,
  { trace, limit, waited }: { trace: CallTrace | undefined; limit: RunLimit | undefined; waited: WaitEnd | undefined },
): JournalEntry => ({
  kind: 'tool_finished',
  callId,
  ...(trace && { trace }),
  ...(limit !== undefined && { wrapUp: limit }),
  ...(waited && { waited }),
});

const toToldFields = ({ limit, refusedHosts, todo }: ToolOutcome) => ({
  ...(limit !== undefined && { limit }),
  ...(refusedHosts && { refused_hosts: [...refusedHosts] }),
  ...(todo && { todo: [...todo] }),
});

const stated = ({
  decision,
  taint,
  result: { limit, refusedHosts },
}: Pick<ToolResult, 'decision' | 'taint' | 'result'>) => ({
  ...(limit !== undefined && { limit }),
  ...(refusedHosts && { refusedHosts }),
  ...(decision && { decision }),
  ...(taint && { taint }),
});

const filesOf = ({ attachments }: Pick<ToolResult, 'attachments'>) =>
  attachments === undefined ? {} : { attachments: [...attachments] };
