import type { Approval } from '../../protocol/methods/approval.ts';
import type { ApprovalItem, StreamEventOf } from '../../protocol/stream-events.ts';
import type { Paint } from './paint.ts';
import { toSafeText } from './safe-text.ts';
import { toHeaderText, toPreviewLines, toToolCall } from './tool-lines.ts';

/** Something that waits for a person. */
export interface Question {
  approvalId: string;
  kind: 'tools' | 'outcome';
  items: readonly ApprovalItem[];
}

export const toQuestion = (event: StreamEventOf<'approve_request'> | Approval): Question => ({
  approvalId: 'approvalId' in event ? event.approvalId : event.approval_id,
  kind: event.kind,
  items: event.items,
});

/** The question with everything that would run, cut to `maxLines` of preview each. */
export function toQuestionLines(
  { kind, items }: Question,
  { paint, maxLines }: { paint: Paint; maxLines: number },
): string[] {
  const title = TITLES[kind](items.length);
  const explained =
    kind === 'outcome'
      ? ['This ran when Headgate stopped. What came of it is unknown. Look before you run it again.']
      : [];
  return [
    paint(['bold', 'yellow'], `? ${title}`),
    ...explained,
    ...items.flatMap((item) => toItemLines(item, { paint, maxLines })),
  ];
}

const TITLES: Record<Question['kind'], (count: number) => string> = {
  tools: (count) => (count === 1 ? 'May the agent do this?' : `May the agent do these ${count} things?`),
  outcome: (count) => (count === 1 ? 'Run this again?' : `Run these ${count} again?`),
};

function toItemLines(item: ApprovalItem, style: { paint: Paint; maxLines: number }): string[] {
  const { paint } = style;
  const call = toToolCall(item, true);
  const tag = !item.needs_approval && item.error === null ? paint('dim', ' (needs no approval)') : '';
  return [
    `  ${toHeaderText(call, paint)}${tag}`,
    ...(item.not_sandboxed === undefined
      ? []
      : [paint('yellow', `  ! Not sandboxed, local sockets are open: ${toSafeText(item.not_sandboxed)}`)]),
    ...(item.error === null ? [] : [paint('red', `  Will not run: ${toSafeText(item.error)}`)]),
    ...toPreviewLines(call, style),
  ];
}

type Decided = Pick<StreamEventOf<'approval_resolved'>, 'approved' | 'always' | 'feedback' | 'by'>;

/** The decision in one line. */
export function toDecisionLine(
  { kind, items }: Question,
  decision: Decided,
  { paint, isMine }: { paint: Paint; isMine: boolean },
): string {
  const what = items.map((item) => item.func_name).join(', ');
  const remark = decision.feedback === '' ? '' : ` — ${toSafeText(decision.feedback).replaceAll('\n', ' ')}`;
  const where = isMine || decision.by.kind !== 'principal' ? '' : ' (decided elsewhere)';
  const text = `${wordFor(kind, decision)}: ${what}${remark}${where}`;
  return decision.approved ? `${paint('green', '✔')} ${text}` : `${paint('red', '✖')} ${text}`;
}

function wordFor(kind: Question['kind'], { approved, always, by }: Decided): string {
  if (kind === 'outcome') return approved ? 'Run again' : 'Skipped';
  if (!approved) return by.kind === 'principal' ? 'Denied' : 'Not run';
  return always ? 'Approved, and from now on always' : 'Approved';
}
