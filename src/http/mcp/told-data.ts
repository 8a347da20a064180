import type { Result } from '../../../protocol/index.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { HistoryMessage } from '../../../protocol/stream-events.ts';

/** Of one text, and of all texts of a page, both as characters of the JSON that is sent. */
const [MOST_TEXT, MOST_PAGE] = [8_000, 80_000];

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

/** Keeps the beginning and the end, and says what is left out. No half of a character stays: many parsers refuse a JSON text with one. */
function cut(text: string, most: number): string {
  if (sizeOf(text) - 2 <= most) return text;
  const half = Math.floor(most / 2);
  const begin = text.slice(0, countFitting(text.slice(0, half), half));
  const end = text.slice(text.length - countFitting([...text.slice(-half)].reverse(), half));
  const left = text.length - begin.length - end.length;
  return `${begin.toWellFormed()} … (${left} characters left out) … ${end.toWellFormed()}`;
}

/** How many units of text have this size in JSON, which escapes quotation marks and line ends. */
function countFitting(characters: Iterable<string>, most: number): number {
  let [count, left] = [0, most];
  for (const character of characters) {
    left -= sizeOf(character) - 2;
    if (left < 0) break;
    count += character.length;
  }
  return count;
}

/** With the longest texts that fit a page; the caller's texts get shorter until they do. */
function fitted<T>(toTold: (most: number) => T): T {
  let most = MOST_TEXT;
  let told = toTold(most);
  for (; most > LEAST_TEXT && sizeOf(told) > MOST_PAGE; told = toTold(most)) most = Math.floor(most / 2);
  return told;
}

const LEAST_TEXT = 50;

/** The first ones that fit a page, but at least one. */
function firstFitting<A, T>(all: readonly A[], toTold: (one: A) => T): T[] {
  const shown: T[] = [];
  let left = MOST_PAGE;
  for (const one of all) {
    const told = toTold(one);
    left -= sizeOf(told) + 1;
    if (left < 0 && shown.length > 0) break;
    shown.push(told);
  }
  return shown;
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
export function toPage({ messages, truncated }: Pick<Result<'workstream.history'>, 'messages' | 'truncated'>) {
  const shown = firstFitting(messages.toReversed(), toMessage).reverse();
  return { messages: shown, earlier: truncated || shown.length < messages.length };
}

const toMessage = (message: HistoryMessage) => fitted((most) => tellMessage(message, most));

const tellMessage = (
  { seq, role, content, tool_calls, name, outcome, partial, failed }: HistoryMessage,
  most: number,
) => ({
  seq,
  role,
  text: cut(content ?? '', most),
  ...(tool_calls?.length && {
    calls: tool_calls.map(({ name: tool, arguments: given }) => ({ tool, arguments: cut(given, most / 4) })),
  }),
  ...(name !== undefined && { tool: name }),
  ...(outcome !== undefined && { outcome }),
  ...(partial && { cut_off: true }),
  ...(failed && { failed: cut(failed.text, most) }),
});

/** The answer of a run, as long as a page. */
export const cutAnswer = (answer: string): string => cut(answer, MOST_PAGE);

/** The first questions that fit, each cut. The others follow when these are decided. */
export function toApprovals(approvals: readonly Approval[]) {
  const shown = firstFitting(approvals, toApproval);
  return { approvals: shown, ...(shown.length < approvals.length && { left_out: approvals.length - shown.length }) };
}

const toApproval = (approval: Approval) => fitted((most) => tellApproval(approval, most));

const tellApproval = ({ approvalId, wsId, kind, items, budget, expiresAtMs }: Approval, most: number) => ({
  approval_id: approvalId,
  ws_id: wsId,
  kind,
  expires: new Date(expiresAtMs).toISOString(),
  ...(budget && { budget }),
  calls: items.map(
    ({ call_id, header, preview, func_name, needs_approval, question, plan, effects, not_sandboxed }) => ({
      call_id,
      tool: func_name,
      header: cut(header, most),
      preview: cut(preview, most),
      needs_approval,
      ...(question && { question }),
      ...(plan && { plan: cut(plan.content, most) }),
      ...(effects && { effects }),
      ...(not_sandboxed !== undefined && { not_sandboxed }),
    }),
  ),
});
