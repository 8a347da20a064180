import type { PlanEntry, SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { TodoItem } from '../../../protocol/events/todo.ts';
import type { StreamEvent, StreamEventOf } from '../../../protocol/stream-events.ts';
import { decisionWord } from '../../../protocol/text/decision-word.ts';
import { toWaitLine } from '../../../protocol/text/wait-words.ts';
import { createPaint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { toWarningLines } from '../terminal/warning-lines.ts';
import { toBlock, toFenced, toText } from './text-content.ts';
import { type CallPlace, toKind, toOutput, toPreview, toStatus, toTitle, toToolCall } from './tool-calls.ts';

interface EventUpdatesDeps {
  place(): CallPlace;
  /** Whether the run answers a prompt of this editor, which shows it already. */
  isOwn(runId: string): boolean;
}

/** A call that has begun, with the end of what it has printed. */
interface Running {
  item: ApprovalItem;
  live: string;
}

const LIVE_CHARS = 8_192;

/** Turns the events of a conversation into what an editor shows. */
export class EventUpdates {
  readonly #deps: EventUpdatesDeps;
  readonly #running = new Map<string, Running>();
  readonly #agents = new Map<string, string>();
  /** The last text did not end its line, so that a text of another kind needs a distance. */
  #isOpen = false;

  constructor(deps: EventUpdatesDeps) {
    this.#deps = deps;
  }

  /** The beginning of a conversation: nothing is running. */
  reset(): void {
    this.#running.clear();
    this.#isOpen = false;
  }

  /** The title of a sub-agent; undefined: the agent of the conversation. */
  titleOf(agentId: string | undefined): string | undefined {
    return agentId === undefined ? undefined : this.#agents.get(agentId);
  }

  read(event: StreamEvent): SessionUpdate[] {
    switch (event.type) {
      case 'content':
      case 'reasoning':
      case 'stream_end':
        return this.#onAnswer(event);
      case 'tool_info':
        return this.#begin(event.items, 'in_progress', event.agent_id);
      case 'approve_request':
        return this.#begin(event.items, 'pending', event.agent_id);
      case 'approval_resolved':
        return this.#onDecision(event);
      case 'tool_output_chunk':
        return this.#onOutput(event);
      case 'tool_result':
        return this.#onResult(event);
      case 'sub_agent':
        return this.#onAgent(event);
      default:
        return this.#onNote(event);
    }
  }

  #onAnswer(event: AnswerEvent): SessionUpdate[] {
    switch (event.type) {
      case 'content':
        return this.#say(event.text);
      case 'reasoning':
        return [{ sessionUpdate: 'agent_thought_chunk', content: toBlock(event.text) }];
      case 'stream_end':
        return event.interrupted ? this.#sayApart(VOID) : [];
    }
  }

  #begin(items: readonly ApprovalItem[], status: 'pending' | 'in_progress', agentId: string | undefined) {
    return items.map((item): SessionUpdate => {
      const isKnown = this.#running.has(item.call_id);
      this.#running.set(item.call_id, { item, live: '' });
      const call = { ...toToolCall(item, this.#deps.place(), this.titleOf(agentId)), status };
      return isKnown ? { sessionUpdate: 'tool_call_update', ...call } : { sessionUpdate: 'tool_call', ...call };
    });
  }

  #onOutput({ call_id, chunk }: StreamEventOf<'tool_output_chunk'>): SessionUpdate[] {
    const call = this.#running.get(call_id);
    if (call === undefined) return [];
    call.live = (call.live + chunk).slice(-LIVE_CHARS);
    const content = [...this.#preview(call), ...toOutput(call.live)];
    return [{ sessionUpdate: 'tool_call_update', toolCallId: call_id, status: 'in_progress', content }];
  }

  #onResult(event: StreamEventOf<'tool_result'>): SessionUpdate[] {
    const { call_id, name, output, outcome, todo, agent_id } = event;
    const call = this.#running.get(call_id);
    this.#running.delete(call_id);
    const shown = call === undefined ? [] : this.#preview(call);
    // What was changed says more than that it was changed.
    const isSaid = outcome === 'done' && shown.some(({ type }) => type === 'diff');
    const ended = {
      toolCallId: call_id,
      title: toTitle(call?.item.header ?? name, this.titleOf(agent_id)),
      kind: toKind(name),
      status: toStatus(outcome),
      content: [...shown, ...(isSaid ? [] : toOutput(output))],
    };
    const update: SessionUpdate = call
      ? { sessionUpdate: 'tool_call_update', ...ended }
      : { sessionUpdate: 'tool_call', ...ended };
    return [update, ...(todo ? [toPlan(todo)] : [])];
  }

  #onDecision(event: StreamEventOf<'approval_resolved'>): SessionUpdate[] {
    return event.call_ids.flatMap((callId): SessionUpdate[] => {
      const call = this.#running.get(callId);
      if (call === undefined) return [];
      const isApproved = event.approved && event.denied_call_ids?.includes(callId) !== true;
      const status = isApproved || event.plan === 'revised' ? 'in_progress' : 'failed';
      const why = isApproved ? [] : [toText(`${decisionWord('tools', event)}${remarkOf(event)}`)];
      const content = [...this.#preview(call), ...why];
      return [{ sessionUpdate: 'tool_call_update', toolCallId: callId, status, content }];
    });
  }

  #onAgent({ agent_id, title, call_id, state, turns, tool_calls }: StreamEventOf<'sub_agent'>): SessionUpdate[] {
    this.#agents.set(agent_id, title);
    const call = this.#running.get(call_id);
    if (call === undefined || state === 'ended') return [];
    const text = `${toSafeText(title)}: ${state}, ${turns} turns, ${tool_calls} calls`;
    const content = [...this.#preview(call), toText(text)];
    return [{ sessionUpdate: 'tool_call_update', toolCallId: call_id, content }];
  }

  #onNote(event: StreamEvent): SessionUpdate[] {
    switch (event.type) {
      case 'user_turn':
        return this.#onTurn(event);
      case 'info':
        return this.#sayApart(toNote(event.message));
      case 'output_warning':
        return this.#sayApart(toWarningLines(event, PLAIN).join('\n').trim());
      case 'wait_start':
        return this.#sayApart(toSafeText(`${event.message} ${toWaitLine(event)}`));
      case 'rewound':
      case 'message_removed':
      case 'clear_ui':
        return this.#sayApart(CUT);
      case 'compacted':
        return this.#sayApart(COMPACTED);
      case 'ws_state':
        return this.#onState(event);
      default:
        return toFooter(event);
    }
  }

  #onTurn({ message, run_id, steered_run_id }: StreamEventOf<'user_turn'>): SessionUpdate[] {
    if (this.#deps.isOwn(steered_run_id ?? run_id)) return [];
    return [{ sessionUpdate: 'user_message_chunk', content: toBlock(message) }];
  }

  /** The error of an own run is the answer to its prompt. */
  #onState({ run }: StreamEventOf<'ws_state'>): SessionUpdate[] {
    if (run?.error === undefined || run.status === 'cancelled' || this.#deps.isOwn(run.run_id)) return [];
    return this.#sayApart(`(The run failed: ${toSafeText(run.error)})`);
  }

  #preview({ item }: Running): ToolCallContent[] {
    return toPreview(item, this.#deps.place().workdir);
  }

  #say(text: string): SessionUpdate[] {
    if (text === '') return [];
    this.#isOpen = !text.endsWith('\n');
    return [{ sessionUpdate: 'agent_message_chunk', content: toBlock(text) }];
  }

  #sayApart(text: string): SessionUpdate[] {
    return this.#say(`${this.#isOpen ? '\n\n' : ''}${text}\n\n`);
  }
}

type AnswerEvent = StreamEventOf<'content'> | StreamEventOf<'reasoning'> | StreamEventOf<'stream_end'>;

/** What only lists and footers of an editor show. */
function toFooter(event: StreamEvent): SessionUpdate[] {
  switch (event.type) {
    case 'status':
      return event.context_window === 0
        ? []
        : [{ sessionUpdate: 'usage_update', used: event.total_tokens, size: event.context_window }];
    case 'ws_rename':
      return [{ sessionUpdate: 'session_info_update', title: toTitle(event.name) }];
    default:
      return [];
  }
}

/** The agent's checklist. */
export const toPlan = (items: readonly TodoItem[]): SessionUpdate => ({
  sessionUpdate: 'plan',
  entries: items.map(toEntry),
});

const toEntry = ({ text, status }: TodoItem): PlanEntry => ({
  content: status === 'cancelled' ? `${toSafeText(text)} (dropped)` : toSafeText(text),
  priority: 'medium',
  status: status === 'done' || status === 'cancelled' ? 'completed' : status,
});

const remarkOf = ({ feedback }: StreamEventOf<'approval_resolved'>): string =>
  feedback === '' ? '' : `: ${toSafeText(feedback)}`;

/** One line is a sentence; more are a list or a table, whose columns Markdown would lose. */
export const toNote = (message: string): string => {
  const text = toSafeText(message).trim();
  return text.includes('\n') ? toFenced(text) : text;
};

const VOID = '(A restart cut off the answer above, so it is void. The model is asked again.)';
const PLAIN = { paint: createPaint(false), columns: Number.POSITIVE_INFINITY };
const CUT = '(Messages were taken back elsewhere. Load this conversation again to see what is left.)';
const COMPACTED = '(From here on, the model reads a summary in place of the earlier messages.)';
