import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { Message, ToolCall, ToolMessage } from '../message.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { JournalEntry } from './journal.ts';
import type { Step } from './recorder.ts';

/** The step that gives calls their results: the event, the message that the model reads, the journal's line. */
export function resultStep(results: { call: ToolCall; outcome: ToolOutcome }[]): Step {
  const events: StreamEvent[] = [];
  const messages: Message[] = [];
  const journal: JournalEntry[] = [];
  for (const { call, outcome } of results) {
    const { output, isError, files, kept } = outcome;
    events.push({
      type: 'tool_result',
      call_id: call.id,
      name: call.name,
      output,
      is_error: isError,
      ...(kept && { whole_bytes: kept.bytes }),
    });
    messages.push({
      role: 'tool',
      callId: call.id,
      name: call.name,
      output,
      isError,
      ...(files && { files }),
      ...(kept && { kept }),
    } satisfies ToolMessage);
    journal.push({ kind: 'tool_finished', callId: call.id });
  }
  return { events, messages, journal };
}
