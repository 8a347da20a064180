import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import { POLICY_WORDS } from '../../../protocol/events/policy-actions.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { BudgetQuestion } from '../../../protocol/run-outcome.ts';
import type { QuestionKind, StreamEventOf } from '../../../protocol/stream-events.ts';
import { inBackgroundWords } from '../../../protocol/text/background-words.ts';
import { askedMore, explainBudget } from '../../../protocol/text/budget-words.ts';
import { decisionWord } from '../../../protocol/text/decision-word.ts';
import { toEffectPhrases } from '../../../protocol/text/effect-words.ts';
import { repeatedCall } from '../../../protocol/text/repeated-call.ts';
import { toRulingWords } from '../../../protocol/text/rule-words.ts';
import type { Room } from '../../../protocol/text/text-ends.ts';
import { ASK_INSTRUCTIONS, UNTRUSTED_INSTRUCTIONS } from '../../../protocol/text/untrusted-instructions.ts';
import { RISK_WORDS } from '../../../protocol/text/verdict-words.ts';
import type { Paint } from './paint.ts';
import { toSafeText } from './safe-text.ts';
import {
  hasOwnPreview,
  type PreviewStyle,
  toHeaderText,
  toLineText,
  toPreviewLines,
  toToolCall,
} from './tool-lines.ts';
import { toWordRows, wrapWords } from './wrap.ts';

/** A pending approval. */
export interface Question {
  approvalId: string;
  kind: QuestionKind;
  items: readonly ApprovalItem[];
  /** If the kind is `budget`. */
  budget?: BudgetQuestion | undefined;
}

export const toQuestion = (event: StreamEventOf<'approve_request'> | Approval): Question => ({
  approvalId: 'approvalId' in event ? event.approvalId : event.approval_id,
  kind: event.kind,
  items: event.items,
  budget: event.budget,
});

interface AskedBy extends Question {
  /** The title of the sub-agent that asks; absent: the agent of the conversation. */
  agent?: string | undefined;
}

/** The question with everything that would run, in full or cut to the beginning and end of long texts. */
export function toQuestionLines({ kind, items, budget, agent }: AskedBy, style: PreviewStyle): string[] {
  if (budget) return toBudgetLines(budget, style);
  const isQuestion = items.length > 0 && items.every(({ question }) => question !== undefined);
  const title = isQuestion ? 'The agent asks' : TITLES[kind](items.length);
  return [
    style.paint(['bold', 'yellow'], `? ${title}${agent === undefined ? '' : ` (sub-agent: ${agent})`}`),
    ...EXPLAINED[kind],
    ...items.flatMap((item) => toItemLines(item, style)),
  ];
}

const toBudgetLines = (budget: BudgetQuestion, { paint }: PreviewStyle): string[] => [
  paint(['bold', 'yellow'], `? ${askedMore(budget)}`),
  `  ${toSafeText(explainBudget(budget))}`,
];

/** The space for each call, so that the question and its keys fit on one screen. */
export function toQuestionRoom({ items }: Question, { rows, columns }: Room): Room {
  const warnings = items.some(({ repeated }) => repeated !== undefined) ? 1 : 0;
  const each = Math.floor((rows - ROWS_AROUND) / Math.max(1, items.length)) - ROWS_PER_CALL - warnings;
  return { rows: Math.min(MAX_ROWS, Math.max(MIN_ROWS, each)), columns: Math.min(MAX_COLUMNS, columns) - INDENTED };
}

/** Title, keys, prompt and the lines between them. */
const ROWS_AROUND = 7;
/** Header, sandbox warning and effects. */
const ROWS_PER_CALL = 3;
const [MIN_ROWS, MAX_ROWS] = [4, 40];
/** Longer lines are hard to read. */
const MAX_COLUMNS = 120;
const INDENTED = 2;

const TITLES: Record<Question['kind'], (count: number) => string> = {
  tools: (count) => (count === 1 ? 'May the agent do this?' : `May the agent do these ${count} things?`),
  outcome: (count) => (count === 1 ? 'Run this again?' : `Run these ${count} again?`),
  instructions: () => ASK_INSTRUCTIONS,
  budget: () => 'Spend more?',
  plan: () => 'Is this plan good?',
};

const EXPLAINED: Record<Question['kind'], string[]> = {
  tools: [],
  outcome: ['This was running when Headgate stopped. Its outcome is unknown. Check before you run it again.'],
  instructions: [UNTRUSTED_INSTRUCTIONS],
  budget: [],
  plan: [],
};

function toItemLines(item: ApprovalItem, { paint, room, columns }: PreviewStyle): string[] {
  const call = toToolCall(item, true);
  const line = (text: string, rows: number) =>
    toLineText(toSafeText(text).replaceAll('\n', ' '), { paint, room: room && { ...room, rows } });
  const because = (reason: string) => (reason === '' ? '' : `: ${line(reason, REASON_ROWS)}`);
  const facts = [
    ...(!item.needs_approval && item.error === null ? ['needs no approval'] : []),
    ...(item.background_secs === undefined ? [] : [inBackgroundWords(item.background_secs)]),
    ...factsOf(item),
  ];
  const tag = facts.length === 0 ? '' : paint('dim', ` (${facts.join('; ')})`);
  const titleRows = hasOwnPreview(call) ? TITLE_ROWS : REASON_ROWS;
  const subject = call.subject === undefined ? undefined : line(call.subject, titleRows);
  const title = toHeaderText({ ...call, header: line(call.header, titleRows), subject }, paint);
  const wrap = (text: string, toRows = wrapWords) =>
    columns === undefined ? [`  ${text}`] : toRows(text, columns, { first: '  ', rest: '    ' });
  return [
    ...wrap(`${title}${tag}`, toWordRows),
    ...(item.not_sandboxed === undefined
      ? []
      : wrap(
          paint(
            'yellow',
            `! Not sandboxed${because(item.not_sandboxed)}. It can use local sockets (Docker, ssh-agent).`,
          ),
        )),
    ...(item.repeated === undefined ? [] : wrap(paint('yellow', `! ${repeatedCall(item.repeated)}`))),
    ...toEffectLines(item, { paint, room, columns }),
    ...(item.error === null ? [] : wrap(paint('red', `Will not run: ${line(item.error, REASON_ROWS)}`))),
    ...toPreviewLines(call, { paint, room }),
  ];
}

/** Which rule decided, or why nobody had to be asked. */
function factsOf({ ruling, policy }: ApprovalItem): string[] {
  const words = ruling && toRulingWords(ruling);
  if (words !== undefined) return [toSafeText(words).replaceAll('\n', ' ')];
  return policy ? [POLICY_WORDS[policy.action]] : [];
}

/** The risk and the effects. Without much room, the line names only the kinds of effects. */
function toEffectLines({ effects, verdict }: ApprovalItem, { paint, room, columns }: PreviewStyle): string[] {
  const risk = verdict === undefined ? [] : [RISK_WORDS[verdict.risk_level]];
  const toLine = (isShort: boolean) =>
    [...risk, ...(effects ? toEffectPhrases(effects, { isShort }).map(({ text }) => toSafeText(text)) : [])].join(
      ' · ',
    );
  const [full, short] = [toLine(false), toLine(true)];
  if (full === '') return [];
  const isFitting = room === undefined || full.length <= room.columns * (room.rows > ROWS_OF_FEW ? 2 : 1);
  const isGrave = verdict?.risk_level === 'high' || verdict?.risk_level === 'critical';
  const text = paint(isGrave ? 'red' : 'dim', isFitting ? full : short);
  const width = room ? room.columns + INDENTED : Math.min(MAX_COLUMNS, columns ?? MAX_COLUMNS);
  return wrapWords(text, width, { first: '  ', rest: '  ' });
}

/** For a subject that its preview repeats in full. */
const TITLE_ROWS = 1;
const REASON_ROWS = 3;
const ROWS_OF_FEW = 8;

type Decided = Pick<StreamEventOf<'approval_resolved'>, 'approved' | 'always' | 'feedback' | 'by' | 'plan'>;

/** The decision in one line. */
export function toDecisionLine(
  { kind, items }: Question,
  decision: Decided,
  { paint, isMine }: { paint: Paint; isMine: boolean },
): string {
  const what = items.map((item) => item.func_name).join(', ');
  const remark = decision.feedback === '' ? '' : ` — ${toSafeText(decision.feedback).replaceAll('\n', ' ')}`;
  const where = isMine || decision.by.kind !== 'principal' ? '' : ' (decided elsewhere)';
  const text = `${decisionWord(kind, decision)}${what === '' ? '' : `: ${what}`}${remark}${where}`;
  return decision.approved ? `${paint('green', '✔')} ${text}` : `${paint('red', '✖')} ${text}`;
}
