import type { Approval } from '../../../protocol/methods/approval.ts';
import type { CallOutcome, HistoryMessage } from '../../../protocol/stream-events.ts';
import type { CallDecision, ToolMessage } from '../../agent/message.ts';
import { DENIED_BY_USER } from '../../agent/run/result-texts.ts';
import type { StoredMessage } from './messages.ts';

/** Limit for a shown tool output; the notice names the file with the rest. */
const SHOWN_CHARS = 32 * 1024;

/**
 * Messages as clients see them. Tool results are in the order of their calls, whichever finished first. A refused call
 * is flagged on its result and on the answer with the call. `asked` is the approval that is pending: the answer with its
 * calls is flagged, too.
 */
export function toHistory(stored: readonly StoredMessage[], asked?: Pick<Approval, 'items'>): HistoryMessage[] {
  const waiting = new Set(asked?.items.map(({ call_id }) => call_id));
  const shown = stored.filter(isShown).map(toHistoryMessage);
  for (const [index, message] of shown.entries()) {
    if (message.role !== 'assistant' || !message.tool_calls) continue;
    const results = resultsAfter(shown, index);
    const order = new Map(message.tool_calls.map(({ id }, place) => [id, place]));
    results.sort((a, b) => (order.get(a.call_id ?? '') ?? 0) - (order.get(b.call_id ?? '') ?? 0));
    shown.splice(index + 1, results.length, ...results);
    if (results.some(({ denied }) => denied)) message.denied = true;
    if (message.tool_calls.some(({ id }) => waiting.has(id))) message.pending = true;
  }
  return shown;
}

/** Notes tell people what a message of the environment tells the model. */
export const isShown = ({ message }: Pick<StoredMessage, 'message'>): boolean =>
  message.role !== 'user' || message.environment === undefined;

function resultsAfter(shown: readonly HistoryMessage[], index: number): HistoryMessage[] {
  const end = shown.findIndex(({ role }, place) => place > index && role !== 'tool');
  return shown.slice(index + 1, end < 0 ? undefined : end);
}

function toHistoryMessage({ seq, createdMs, message, isDamaged }: StoredMessage): HistoryMessage {
  const common = { seq, created_ms: createdMs, ...(isDamaged && { damaged: isDamaged }) };
  switch (message.role) {
    case 'user':
      return {
        ...common,
        role: 'user',
        content: message.content,
        tool_calls: null,
        ...(message.attachments && { attachments: message.attachments }),
        ...(message.failed && { failed: message.failed }),
      };
    case 'assistant':
      return {
        ...common,
        role: 'assistant',
        content: message.content === '' && message.toolCalls.length > 0 ? null : message.content,
        tool_calls: message.toolCalls.length > 0 ? message.toolCalls : null,
        ...(message.reasoning !== undefined && { reasoning: message.reasoning }),
        ...(message.partial && { partial: true }),
        ...(message.spent && { spent: message.spent }),
      };
    case 'tool':
      return { ...common, ...toToolEntry(message) };
  }
}

function toToolEntry(message: ToolMessage) {
  const { callId, name, output, outcome, exitCode, durationMs, notSandboxed, limit, refusedHosts, kept, decision } =
    message;
  const denied = NOT_ALLOWED.includes(outcome) || PREFIXES.some((words) => output.startsWith(words));
  return {
    role: 'tool' as const,
    content: headAndTail(output),
    tool_calls: null,
    call_id: callId,
    name,
    outcome,
    is_error: outcome !== 'done',
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(durationMs !== undefined && { duration_ms: durationMs }),
    ...(notSandboxed !== undefined && { not_sandboxed: notSandboxed }),
    ...(limit !== undefined && { limit }),
    ...(refusedHosts && { refused_hosts: [...refusedHosts] }),
    ...(message.todo && { todo: [...message.todo] }),
    ...rulingOf(decision),
    ...(message.attachments && { attachments: message.attachments }),
    ...wholeBytes(output, kept),
    ...(denied && { denied }),
  };
}

function rulingOf({ verdict, reason, policy, rule, action, place }: CallDecision = {}): Pick<HistoryMessage, 'ruling'> {
  if (verdict === undefined || reason === undefined) return {};
  const rule_id = policy ?? rule;
  const source = policy === undefined ? ('rule' as const) : ('policy' as const);
  const isKnown = rule_id !== undefined && action !== undefined && place !== undefined;
  return { ruling: { verdict, reason, ...(isKnown && { rule: { rule_id, source, action, place } }) } };
}

const NOT_ALLOWED: readonly CallOutcome[] = ['denied', 'expired', 'blocked'];
/**
 * Results that begin like this count as denied (specification: http-and-sse, history); `outcome` has the exact reason.
 */
const PREFIXES = [DENIED_BY_USER, 'Blocked'];

function wholeBytes(output: string, kept: ToolMessage['kept']): { whole_bytes?: number } {
  if (kept) return { whole_bytes: kept.bytes };
  return output.length > SHOWN_CHARS ? { whole_bytes: Buffer.byteLength(output) } : {};
}

function headAndTail(text: string): string {
  if (text.length <= SHOWN_CHARS) return text;
  const half = SHOWN_CHARS / 2;
  const [begin, end] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${begin}\n[… ${text.length - SHOWN_CHARS} characters left out …]\n${end}`;
}

/** The newest messages whose JSON texts fit into `maxChars` together, and always the last one. */
export function newestWithin<T>(messages: readonly T[], maxChars: number): T[] {
  let chars = 0;
  const beyond = messages.findLastIndex((message) => {
    chars += JSON.stringify(message).length;
    return chars > maxChars;
  });
  return messages.slice(Math.max(0, Math.min(beyond + 1, messages.length - 1)));
}
