import type { Result } from '../../../protocol/index.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';

/** Of one text, and of all texts of a page. */
const [MOST_TEXT, MOST_PAGE] = [8_000, 80_000];

/** Keeps the beginning and the end, and says what is left out. No half of a character stays: many parsers refuse a JSON text with one. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const [begin, end] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${begin} … (${text.length - 2 * half} characters left out) … ${end}`;
}

type Row = Result<'workstream.list'>['workstreams'][number];

export const toRow = ({ wsId, name, title, state, mode, modelAlias, messageCount, updatedMs }: Row) => ({
  ws_id: wsId,
  name,
  title,
  state,
  mode,
  model: modelAlias,
  messages: messageCount,
  updated: new Date(updatedMs).toISOString(),
});

/** The newest messages that fit, each cut. */
export function toMessages(messages: readonly HistoryMessage[]): unknown[] {
  const shown: unknown[] = [];
  let left = MOST_PAGE;
  for (const message of messages.toReversed()) {
    const told = toMessage(message);
    left -= JSON.stringify(told).length;
    if (left < 0 && shown.length > 0) break;
    shown.unshift(told);
  }
  return shown;
}

const toMessage = ({ seq, role, content, tool_calls, name, outcome, partial, failed }: HistoryMessage) => ({
  seq,
  role,
  text: cut(content ?? '', MOST_TEXT),
  ...(tool_calls?.length && {
    calls: tool_calls.map(({ name: tool, arguments: given }) => ({ tool, arguments: cut(given, MOST_TEXT / 4) })),
  }),
  ...(name !== undefined && { tool: name }),
  ...(outcome !== undefined && { outcome }),
  ...(partial && { cut_off: true }),
  ...(failed && { failed: failed.text }),
});

/** The answer of a run, as long as a page. */
export const cutAnswer = (answer: string): string => cut(answer, MOST_PAGE);

export const toApproval = ({ approvalId, wsId, kind, items, budget, expiresAtMs }: Approval) => ({
  approval_id: approvalId,
  ws_id: wsId,
  kind,
  expires: new Date(expiresAtMs).toISOString(),
  ...(budget && { budget }),
  calls: items.map(
    ({ call_id, header, preview, func_name, needs_approval, question, plan, effects, not_sandboxed }) => ({
      call_id,
      tool: func_name,
      header,
      preview: cut(preview, MOST_TEXT),
      needs_approval,
      ...(question && { question }),
      ...(plan && { plan: cut(plan.content, MOST_TEXT) }),
      ...(effects && { effects }),
      ...(not_sandboxed !== undefined && { not_sandboxed }),
    }),
  ),
});
