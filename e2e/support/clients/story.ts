import type { StreamEvent } from '../../../protocol/stream-events.ts';

/** A log as text, one line per event; consecutive deltas are one line, because readers get them in different pieces. */
export function storyOf(events: readonly StreamEvent[]): string[] {
  const lines: string[] = [];
  let open: { kind: string; line: string } | undefined;
  for (const event of events) {
    const delta = deltaOf(event);
    if (open && open.kind !== delta?.kind) {
      lines.push(open.line);
      open = undefined;
    }
    if (delta) open = { kind: delta.kind, line: (open?.line ?? delta.kind) + delta.text };
    else lines.push(lineOf(event));
  }
  return open ? [...lines, open.line] : lines;
}

function deltaOf(event: StreamEvent): { kind: string; text: string } | undefined {
  if (event.type === 'content' || event.type === 'reasoning') return { kind: `${event.type}: `, text: event.text };
  if (event.type === 'tool_output_chunk') return { kind: `output of ${event.call_id}: `, text: event.chunk };
  return undefined;
}

/** Values that differ between two runs of a test (ids, times, counts) are omitted. */
function lineOf(event: StreamEvent): string {
  switch (event.type) {
    case 'user_turn':
      return `${event.source}: ${event.message}`;
    case 'stream_end':
      return event.interrupted ? 'stream_end interrupted' : 'stream_end';
    case 'ws_state':
      return `state ${event.state}${event.run ? ` (${event.run.status})` : ''}`;
    case 'tool_info':
      return `runs ${event.items.map(({ func_name }) => func_name).join(', ')}`;
    case 'approve_request':
      return `asks ${event.kind} ${event.items.map(({ func_name }) => func_name).join(', ')}`;
    case 'approval_resolved':
      return `${event.approved ? 'approved' : 'denied'}${event.always ? ' always' : ''} ${event.feedback}`.trim();
    case 'tool_result':
      return `${event.name} ${event.is_error ? 'fails' : 'answers'}: ${event.output.trim()}`;
    case 'info':
    case 'error':
      return `${event.type}: ${event.message}`;
    default:
      return event.type;
  }
}

/** The lines of a complete model turn with `text`, from its question to its token counts. */
export const turnLines = (text: string): string[] => [
  'thinking_start',
  'state thinking',
  'thinking_stop',
  ...(text === '' ? [] : [`content: ${text}`]),
  'stream_end',
  'status',
];
