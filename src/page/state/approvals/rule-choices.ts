import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { RuleTerm } from '../../../../protocol/events/rules.ts';
import type { ParamsInput } from '../../../../protocol/index.ts';
import type { CallDecisions } from '../../../../protocol/methods/approval.ts';
import { toSuggestionWords } from '../../../../protocol/text/rule-words.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { ApprovalBlock } from '../conversation/blocks.ts';

/** A question as both the conversation and the inbox show it. */
export type AskedQuestion = Pick<
  ApprovalBlock,
  'approvalId' | 'question' | 'agent' | 'items' | 'budget' | 'isJudging' | 'heard' | 'silent'
>;

/** What is decided about a question. */
export type Decided = Omit<ParamsInput<'approval.resolve'>, 'approvalId'>;

/** Whether a person decides about this call; the others are only shown with it. */
export const asksAbout = ({ question }: Pick<AskedQuestion, 'question'>, item: ApprovalItem): boolean =>
  question === 'tools' &&
  item.error === null &&
  item.auto_approved !== true &&
  (item.ruling === undefined ? item.needs_approval || item.repeated !== undefined : item.ruling.verdict === 'ask');

/** What the model that rates calls does about this question, in words; undefined: nothing to say. */
export function judgeWords({ question, isJudging, heard = [], silent, items }: AskedQuestion): string | undefined {
  if (silent !== undefined)
    return `No rating by the model: ${toVisibleLine(silent).replace(/\.?$/, '.')} The rest is as it was.`;
  const isWaiting = isJudging && items.some((item) => asksAbout({ question }, item) && !heard.includes(item.call_id));
  return isWaiting ? 'A model is rating this, too. You need not wait for it.' : undefined;
}

/** The rules that can be given with the decision about one call. */
export interface OfferedRules {
  callId: string;
  /** What the call works on. */
  name: string;
  choices: readonly { id: string; words: string }[];
}

/** What a person may allow for later calls, by call; denied ones have nothing to allow. */
export const offeredRules = (asked: AskedQuestion, denied: readonly string[]): OfferedRules[] =>
  asked.items
    .filter((item) => asksAbout(asked, item) && !denied.includes(item.call_id) && (item.rules ?? []).length > 0)
    .map(({ call_id: callId, rules = [], subject, header }) => ({
      callId,
      name: toVisibleLine(subject ?? header),
      choices: rules.map(({ id, ...rule }) => ({ id, words: toSuggestionWords(rule) })),
    }));

/** The terms that all offered rules may have. */
export const offeredTerms = ({ items }: Pick<AskedQuestion, 'items'>): RuleTerm[] => {
  const all = items.flatMap(({ rules = [] }) => rules.map(({ terms }) => terms));
  return (['hour', 'conversation', 'always'] as const).filter((term) => all.every((terms) => terms.includes(term)));
};

/** The decision that approves, except for the denied calls, with answers to questions of the agent. */
export function toApproval(denied: readonly string[], answers: CallDecisions = {}): Decided {
  const decisions = { ...answers, ...Object.fromEntries(denied.map((id) => [id, { approved: false }])) };
  return { approved: true, ...(Object.keys(decisions).length > 0 && { decisions }) };
}
