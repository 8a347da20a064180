import type {
  CreateElicitationResponse,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ToolCallContent,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { ParamsInput } from '../../../../protocol/index.ts';
import type { CallDecisions } from '../../../../protocol/methods/approval.ts';
import { askedMore, explainBudget } from '../../../../protocol/text/budget-words.ts';
import { TERM_WORDS, toSuggestionWords } from '../../../../protocol/text/rule-words.ts';
import { createPaint } from '../../terminal/paint.ts';
import { type Question, toQuestionLines } from '../../terminal/question-lines.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toText } from '../text-content.ts';
import { type CallPlace, toKind, toPreview, toTitle, toToolCall } from '../tool-calls.ts';
import { askForChanges, askInForm, type FormRequest } from './question-forms.ts';

/** The editor, as far as a person answers there. */
export interface Editor {
  permit(request: Omit<RequestPermissionRequest, 'sessionId'>): Promise<RequestPermissionResponse>;
  /** Undefined: the editor has no forms. */
  fill: ((request: FormRequest) => Promise<CreateElicitationResponse>) | undefined;
}

interface AskDeps {
  editor: Editor;
  place: CallPlace;
  /** The title of the sub-agent that asks. */
  agent: string | undefined;
}

/** What a person decided; without an id, which the caller has. */
export type Decision = Omit<ParamsInput<'approval.resolve'>, 'approvalId'>;

/** What is decided about one call. */
interface Ruling {
  approved: boolean;
  feedback?: string;
  answer?: string;
  choice?: string;
  rule?: { id: string; term: 'conversation' | 'always' };
}

/** Asks about each call of a question. Undefined if the person left without an answer, so that others may decide. */
export async function askEditor(question: Question, deps: AskDeps): Promise<Decision | undefined> {
  const asked = question.items.filter(needsAnswer);
  // Instructions are followed together, or not at all.
  if (asked.length === 0 || question.kind === 'instructions') return askWhole(question, deps);
  const rulings = new Map<string, Ruling>();
  for (const item of asked) {
    const ruling = await askAbout(item, question, deps);
    if (ruling === undefined) return undefined;
    rulings.set(item.call_id, ruling);
  }
  return toDecision(rulings);
}

const needsAnswer = ({ error, needs_approval, auto_approved }: ApprovalItem): boolean =>
  error === null && needs_approval && auto_approved !== true;

function toDecision(rulings: ReadonlyMap<string, Ruling>): Decision {
  const all = [...rulings];
  const approved = all.every(([, ruling]) => ruling.approved);
  const feedback = all.length === 1 ? all[0]?.[1].feedback : undefined;
  const rules = all.flatMap(([callId, { rule }]) => (rule ? [{ callId, ...rule }] : []));
  const isPlain = all.every(([, { answer, choice }]) => answer === undefined && choice === undefined);
  const decisions: CallDecisions = Object.fromEntries(all.map(([callId, { rule: _, ...ruling }]) => [callId, ruling]));
  return {
    approved,
    ...(feedback !== undefined && { feedback }),
    ...(rules.length > 0 && { rules }),
    ...((!isPlain || all.length > 1) && { decisions }),
  };
}

async function askAbout(item: ApprovalItem, question: Question, deps: AskDeps): Promise<Ruling | undefined> {
  const { editor, place, agent } = deps;
  if (item.question !== undefined) {
    const asked = { ...item, question: item.question };
    return editor.fill ? askInForm(asked, editor.fill) : askByOptions(asked, deps);
  }
  if (item.plan) return askAboutPlan({ ...item, plan: item.plan }, question, deps);
  const { outcome } = await editor.permit({
    toolCall: toAsked(item, question, { place, agent }),
    options: toOptions(item, question.kind),
  });
  if (outcome.outcome === 'cancelled') return undefined;
  return rulingOf(outcome.optionId, item);
}

/** A permission request carries no text, so a form asks what to change. A form that is left leads back to the options. */
async function askAboutPlan(
  item: ApprovalItem & { plan: NonNullable<ApprovalItem['plan']> },
  question: Question,
  { editor, place, agent }: AskDeps,
): Promise<Ruling | undefined> {
  const { fill, permit } = editor;
  const canRevise = fill !== undefined && item.plan.revisions_left > 0;
  const options = canRevise ? PLAN_OPTIONS.toSpliced(1, 0, REVISE) : PLAN_OPTIONS;
  for (;;) {
    const { outcome } = await permit({ toolCall: toAsked(item, question, { place, agent }), options });
    if (outcome.outcome === 'cancelled') return undefined;
    if (!canRevise || outcome.optionId !== REVISE.optionId) return rulingOf(outcome.optionId, item);
    const feedback = await askForChanges(item, fill);
    if (feedback !== undefined) return { approved: false, feedback };
  }
}

/** The call with everything that a person should know before it runs. */
function toAsked(
  item: ApprovalItem,
  question: Question,
  { place, agent }: Pick<AskDeps, 'place' | 'agent'>,
): ToolCallUpdate {
  const content: ToolCallContent[] = item.plan
    ? [toText(toSafeText(item.plan.content))]
    : [...toWarning(item, question), ...toPreview(item, place.workdir)];
  return { ...toToolCall(item, place, agent), status: 'pending', content };
}

const plain = createPaint(false);

/** The lines that the terminal prints about it, without its title and its preview. */
function toWarning(item: ApprovalItem, { kind }: Question): ToolCallContent[] {
  const about = { approvalId: '', kind, items: [{ ...item, preview: '' }] };
  const [, ...lines] = toQuestionLines(about, { paint: plain, room: undefined });
  const text = lines.map((line) => line.trim()).join('\n');
  return text === toTitle(item.header) ? [] : [toText(text, { isPlain: true })];
}

const ONCE: PermissionOption = { optionId: 'allow', name: 'Allow', kind: 'allow_once' };
const REJECT: PermissionOption = { optionId: 'reject', name: 'Reject', kind: 'reject_once' };
const REVISE: PermissionOption = { optionId: 'revise', name: 'Revise it: I say what to change', kind: 'reject_once' };
const PLAN_OPTIONS: PermissionOption[] = [
  { ...ONCE, name: 'Approve the plan' },
  { ...REJECT, name: 'Reject it' },
];

const NAMES: Partial<Record<Question['kind'], [string, string]>> = {
  outcome: ['Run it again', 'Skip it'],
  instructions: ['Follow them', 'Ignore them'],
  budget: ['Continue', 'Stop here'],
};

/** Allow always gives the narrowest rule that is enough for such a call; wider ones are given on the page. */
function toOptions({ rules = [] }: ApprovalItem, kind: Question['kind']): PermissionOption[] {
  const [once, reject] = NAMES[kind] ?? [ONCE.name, REJECT.name];
  const [narrowest] = rules;
  const lasting = (['conversation', 'always'] as const).flatMap((term): PermissionOption[] => {
    if (narrowest?.terms.includes(term) !== true) return [];
    const name = `Allow ${toSafeText(toSuggestionWords(narrowest)).replaceAll('\n', ' ')} ${TERM_WORDS[term]}`;
    return [{ optionId: `allow-${term}`, name, kind: 'allow_always' }];
  });
  return [{ ...ONCE, name: once }, ...lasting, { ...REJECT, name: reject }];
}

/** Anything but the offered options counts as a refusal. */
function rulingOf(optionId: string, { rules = [] }: ApprovalItem): Ruling {
  const term = (['conversation', 'always'] as const).find((one) => optionId === `allow-${one}`);
  const [narrowest] = rules;
  if (term !== undefined && narrowest?.terms.includes(term))
    return { approved: true, rule: { id: narrowest.id, term } };
  return { approved: optionId === ONCE.optionId };
}

/** A question about no single call: a budget, or a list whose calls need no answer by themselves. */
async function askWhole(question: Question, { editor, agent }: AskDeps): Promise<Decision | undefined> {
  const { budget, kind, items, approvalId } = question;
  const [once, reject] = NAMES[kind] ?? [ONCE.name, REJECT.name];
  const title = budget ? askedMore(budget) : (items[0]?.header ?? 'Go on?');
  const lines = toQuestionLines(question, { paint: plain, room: undefined });
  const text = budget ? toSafeText(explainBudget(budget)) : lines.join('\n');
  const { outcome } = await editor.permit({
    toolCall: {
      toolCallId: `question-${approvalId}`,
      title: toTitle(title, agent),
      kind: 'other',
      status: 'pending',
      content: [toText(text, { isPlain: budget === undefined })],
    },
    options: [
      { ...ONCE, name: once },
      { ...REJECT, name: reject },
    ],
  });
  return outcome.outcome === 'cancelled' ? undefined : { approved: outcome.optionId === ONCE.optionId };
}

const MOST_CHOICES = 9;
const IN_CHAT: PermissionOption = { optionId: 'chat', name: 'I answer in my next message', kind: 'reject_once' };

/** Without forms, the choices are options. */
async function askByOptions(
  item: ApprovalItem & { question: { text: string; choices: readonly { label: string }[] } },
  { editor, agent }: AskDeps,
): Promise<Ruling | undefined> {
  const choices = item.question.choices.slice(0, MOST_CHOICES);
  const { outcome } = await editor.permit({
    toolCall: {
      toolCallId: item.call_id,
      title: toTitle(item.question.text, agent),
      kind: toKind(item.func_name),
      status: 'pending',
      content: [toText(toSafeText(item.question.text))],
    },
    options: [
      ...choices.map(
        ({ label }, index): PermissionOption => ({
          optionId: `choice-${index}`,
          name: toTitle(label),
          kind: 'allow_once',
        }),
      ),
      IN_CHAT,
    ],
  });
  if (outcome.outcome === 'cancelled') return undefined;
  const chosen = choices.find((_, index) => outcome.optionId === `choice-${index}`);
  return chosen ? { approved: true, choice: chosen.label } : { approved: false, feedback: ANSWERS_LATER };
}

const ANSWERS_LATER = 'The person answers in the next message. End your turn now, and wait for it.';
