import { isDenial } from '../../../protocol/denials.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';
import type { KeptOutput, Message, ToolMessage } from '../../agent/message.ts';
import type { Store } from '../store/store.ts';

/** A stored message with its place. */
export interface StoredMessage {
  seq: number;
  createdMs: number;
  message: Message;
}

/** Reads stored messages of a workstream. */
export interface Messages {
  /** Messages with `after` < seq ≤ `upTo`, the newest `limit` of them, oldest first. */
  page(wsId: string, range: { after: number; upTo: number; limit: number }): Promise<StoredMessage[]>;
  /** All that the model reads, oldest first. */
  context(of: { wsId: string; contextAfterSeq: number; messageCount: number }): Promise<Message[]>;
}

export const createMessages = (store: Store): Messages => ({
  async context({ wsId, contextAfterSeq: after, messageCount: upTo }) {
    const all = await this.page(wsId, { after, upTo, limit: Number.MAX_SAFE_INTEGER });
    return all.map(({ message }) => message);
  },
  async page(wsId, { after, upTo, limit }) {
    const rows = await store.db
      .selectFrom('messages')
      .select(['seq', 'body_json', 'created_ms'])
      .where('ws_id', '=', wsId)
      .where('seq', '>', after)
      .where('seq', '<=', upTo)
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute();
    return rows
      .reverse()
      .map(({ seq, body_json, created_ms }) => ({ seq, createdMs: created_ms, message: JSON.parse(body_json) }));
  },
});

/** Shown of one tool output; whoever needs more reads the file that the notice names. */
const SHOWN_CHARS = 32 * 1024;

/**
 * Messages as clients see them. Tool results stand in the order of their calls, whichever finished first; a call that
 * was denied or blocked is flagged on its result and on the answer that asked for it.
 */
export function toHistory(stored: readonly StoredMessage[]): HistoryMessage[] {
  const shown = stored.map(toHistoryMessage);
  for (const [index, message] of shown.entries()) {
    if (message.role !== 'assistant' || !message.tool_calls) continue;
    const results = resultsAfter(shown, index);
    const order = new Map(message.tool_calls.map(({ id }, place) => [id, place]));
    results.sort((a, b) => (order.get(a.call_id ?? '') ?? 0) - (order.get(b.call_id ?? '') ?? 0));
    shown.splice(index + 1, results.length, ...results);
    if (results.some(({ denied }) => denied)) message.denied = true;
  }
  return shown;
}

function resultsAfter(shown: readonly HistoryMessage[], index: number): HistoryMessage[] {
  const end = shown.findIndex(({ role }, place) => place > index && role !== 'tool');
  return shown.slice(index + 1, end < 0 ? undefined : end);
}

function toHistoryMessage({ seq, createdMs, message }: StoredMessage): HistoryMessage {
  const common = { seq, created_ms: createdMs };
  switch (message.role) {
    case 'user':
      return {
        ...common,
        role: 'user',
        content: message.content,
        tool_calls: null,
        ...(message.attachments && { attachments: message.attachments }),
      };
    case 'assistant':
      return {
        ...common,
        role: 'assistant',
        content: message.content === '' && message.toolCalls.length > 0 ? null : message.content,
        tool_calls: message.toolCalls.length > 0 ? message.toolCalls : null,
        ...(message.reasoning !== undefined && { reasoning: message.reasoning }),
        ...(message.partial && { partial: true }),
      };
    case 'tool':
      return { ...common, ...toToolEntry(message) };
  }
}

function toToolEntry({ callId, name, output, isError, kept }: ToolMessage) {
  const denied = isError && isDenial(output);
  return {
    role: 'tool' as const,
    content: headAndTail(output),
    tool_calls: null,
    call_id: callId,
    name,
    is_error: isError,
    ...wholeBytes(output, kept),
    ...(denied && { denied }),
  };
}

function wholeBytes(output: string, kept: KeptOutput | undefined): { whole_bytes?: number } {
  if (kept) return { whole_bytes: kept.bytes };
  return output.length > SHOWN_CHARS ? { whole_bytes: Buffer.byteLength(output) } : {};
}

function headAndTail(text: string): string {
  if (text.length <= SHOWN_CHARS) return text;
  const half = SHOWN_CHARS / 2;
  return `${text.slice(0, half)}\n[… ${text.length - SHOWN_CHARS} characters left out …]\n${text.slice(-half)}`;
}

/** The newest of a list, as many as their JSON text fits into `maxChars`, and always the last one. */
export function newestWithin<T>(messages: readonly T[], maxChars: number): T[] {
  let chars = 0;
  const beyond = messages.findLastIndex((message) => {
    chars += JSON.stringify(message).length;
    return chars > maxChars;
  });
  return messages.slice(Math.max(0, Math.min(beyond + 1, messages.length - 1)));
}
