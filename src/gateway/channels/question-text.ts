import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { toVisibleLine, toVisibleText } from '../../../protocol/text/visible-text.ts';
import type { NewApproval, Step } from '../../agent/run/recorder.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { Statement } from '../store/store.ts';
import { insertDelivery } from './delivery-rows.ts';

const QUESTION = 'approval:';
const DECISION = 'decided:';

/** The question that a message of the outbox asks. */
export const questionAskedBy = (messageId: string): string | undefined => idAfter(QUESTION, messageId);

/** The question whose decision a message of the outbox tells. */
export const questionDecidedBy = (messageId: string): string | undefined => idAfter(DECISION, messageId);

/** The message of the outbox that asks a question. */
export const messageOfQuestion = (approvalId: string): string => QUESTION + approvalId;

const idAfter = (prefix: string, messageId: string): string | undefined =>
  messageId.startsWith(prefix) ? messageId.slice(prefix.length) : undefined;

/** Asks the chat that the message of a run came from; stored together with the question. */
export function askChat(run: RunRecord, { approvalId, kind, items }: NewApproval, nowMs: number): Statement[] {
  const { deliver, fromChat } = run.request;
  if (!deliver || !fromChat) return [];
  const message = { messageId: messageOfQuestion(approvalId), message: questionText(kind, items) };
  return [insertDelivery({ ...deliver, ...message, from: run.runId, wsId: run.wsId, acceptedMs: nowMs })];
}

/** Tells the chat how a question was decided; stored together with the decision. */
export function tellChat(run: RunRecord, settled: NonNullable<Step['settled']>, nowMs: number): Statement[] {
  const { deliver, fromChat } = run.request;
  if (!deliver || !fromChat) return [];
  const message = { messageId: DECISION + settled.approvalId, message: decisionText(settled) };
  return [insertDelivery({ ...deliver, ...message, from: run.runId, wsId: run.wsId, acceptedMs: nowMs })];
}

/** All items together: the question, with its decision, is one message, and none of them may be cut off by its end. */
const MAX_TEXT = 3_400;
const MAX_PREVIEW = 1_200;
const MAX_LINE = 160;
const MAX_ITEMS = 5;

export function questionText(kind: NewApproval['kind'], items: readonly ApprovalItem[]): string {
  const asked = items.filter(({ needs_approval: isAsked }) => isAsked);
  const shown = asked.slice(0, MAX_ITEMS);
  const lines = shown.map((item) => itemText(item, Math.floor(MAX_TEXT / shown.length)));
  const more = asked.length > MAX_ITEMS ? [`… and ${asked.length - MAX_ITEMS} more; look at them on the page.`] : [];
  return [TITLES[kind], ...lines, ...more].join('\n\n');
}

const TITLES: Readonly<Record<NewApproval['kind'], string>> = {
  tools: '❓ **May I do this?**',
  outcome: '❓ **The daemon stopped while this ran. Do it again?**',
  instructions: '❓ **May I follow these instruction files?**',
  plan: '❓ **Do you accept this plan?**',
  budget: '❓ **A budget is used up.** Decide on the page or in the terminal.',
};

/** What a model wants to do, which may be written so that people overlook something: all of it is visible, and no mark-up. */
function itemText({ header, preview, plan, question, not_sandboxed: reason }: ApprovalItem, most: number): string {
  const title = literal(toLine(header));
  const warning = reason === undefined ? '' : `⚠ It runs without a sandbox: ${literal(toLine(reason))}`;
  const text = toVisibleText(plan?.content ?? question?.text ?? preview);
  const left = Math.min(MAX_PREVIEW, most - toLine(header).length - (reason ? 2 * MAX_LINE : 0) - CUT.length);
  const shown = text.length > left ? [fenced(`${text.slice(0, left)}\n…`), CUT] : [fenced(text)];
  return [title, ...shown, warning].filter((part) => part !== '').join('\n');
}

const CUT = '⚠ This is only the beginning. Look at the whole on the page before you decide.';

function toLine(text: string): string {
  const line = toVisibleLine(text);
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
}

/** Text that Markdown shows as it is. */
const literal = (text: string): string => text.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);

/** A block that nothing in the text can end. */
function fenced(text: string): string {
  if (text.trim() === '') return '';
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

const OUTCOMES = {
  approved: '✅ Approved',
  denied: '🚫 Denied',
  expired: '⌛ Nobody answered in time: denied',
  cancelled: '⏹ Cancelled',
} as const;

function decisionText({ status, by }: NonNullable<Step['settled']>): string {
  return by.kind === 'principal' ? `${OUTCOMES[status]} by ${by.id}` : OUTCOMES[status];
}
