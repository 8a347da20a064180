import type { StreamEvent } from '../../../protocol/stream-events.ts';

/**
 * The events of a sub-agent, as the log of its workstream shows them: its calls and questions, and what they need. The
 * others would be taken for those of the conversation: `content` for its answer, `stream_end` for its end.
 */
export function toAgentEvents(events: readonly StreamEvent[], agentId: string): StreamEvent[] {
  return events.flatMap((event): StreamEvent[] => {
    switch (event.type) {
      case 'tool_info':
      case 'approve_request':
      case 'approval_resolved':
      case 'tool_output_chunk':
      case 'tool_result':
      case 'output_warning':
      case 'info':
        return [{ ...event, agent_id: agentId }];
      case 'wait_start':
      case 'wait_stop':
        return [event];
      case 'ws_state':
        return event.state === 'attention' || event.state === 'running' ? [event] : [];
      default:
        return [];
    }
  });
}
