import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message, ToolCall, ToolMessage } from '../message.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { JournalEntry } from './journal.ts';
import type { Step } from './recorder.ts';

interface ToolResult {
  call: ToolCall;
  outcome: ToolOutcome;
  /** Left out where the call did not run. */
  durationMs?: number;
}

/** The step that gives calls their results: the event, the message that the model reads, the journal's line. */
export function resultStep(results: ToolResult[]): Step {
  const events: StreamEvent[] = [];
  const messages: Message[] = [];
  const journal: JournalEntry[] = [];
  for (const { call, outcome, durationMs } of results) {
    const { output, isError, exitCode, files, kept } = outcome;
    events.push({
      type: 'tool_result',
      call_id: call.id,
      name: call.name,
      output,
      is_error: isError,
      ...(exitCode !== undefined && { exit_code: exitCode }),
      ...(durationMs !== undefined && { duration_ms: durationMs }),
      ...(kept && { whole_bytes: kept.bytes }),
    });
    messages.push({
      role: 'tool',
      callId: call.id,
      name: call.name,
      output,
      isError,
      ...(exitCode !== undefined && { exitCode }),
      ...(durationMs !== undefined && { durationMs }),
      ...(files && { files }),
      ...(kept && { kept }),
    } satisfies ToolMessage);
    journal.push({ kind: 'tool_finished', callId: call.id });
  }
  return { events, messages, journal };
}
