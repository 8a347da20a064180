import type { Key } from 'node:readline';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import type { AskedQuestion } from '../../../../protocol/events/questions/asked-question.ts';
import type { CallDecisions } from '../../../../protocol/methods/approval.ts';
import type { Question } from '../../terminal/question-lines.ts';
import { toSafeText } from '../../terminal/safe-text.ts';

/** Questions of the agent are answered one after the other. */
export interface Answering {
  kind: 'answer';
  approvalId: string;
  given: CallDecisions;
}

type Asked = ApprovalItem & { question: AskedQuestion };

const isAsked = (item: ApprovalItem): item is Asked => item.question !== undefined && item.error === null;

/** Whether words can be written: answers to questions of the agent, or what should change in a plan. */
export const hasQuestions = ({ items }: Pick<Question, 'items'>): boolean =>
  items.some(isAsked) || isAboutPlan({ items });

const isAboutPlan = ({ items }: Pick<Question, 'items'>): boolean => items.some(({ plan }) => plan !== undefined);

const nextOf = ({ items }: Pick<Question, 'items'>, { given }: Answering): Asked | undefined =>
  items.filter(isAsked).find(({ call_id }) => !Object.hasOwn(given, call_id));

interface AnswerStep {
  next?: Answering;
  decision?: { approved: true; decisions: CallDecisions } | { approved: false; feedback: string };
}

/** Only Enter ends an answer; Escape leaves without one. */
export const endsAnswer = ({ name, meta }: Key): boolean => name === 'escape' || (name === 'return' && meta !== true);

/** Takes a line as the next answer: the number of a choice, or any text. */
export function answerTyped(question: Pick<Question, 'items'>, mode: Answering, line: string): AnswerStep {
  const text = line.trim();
  if (isAboutPlan(question)) return text === '' ? {} : { decision: { approved: false, feedback: text } };
  const item = nextOf(question, mode);
  if (item === undefined) return {};
  const choice = /^\d$/.test(text) ? item.question.choices[Number(text) - 1]?.label : undefined;
  const answer = { approved: true, ...(choice === undefined ? { answer: text } : { choice }) };
  const next = { ...mode, given: { ...mode.given, [item.call_id]: answer } };
  return nextOf(question, next) ? { next } : { decision: { approved: true, decisions: next.given } };
}

/** The question that is answered next, with its choices. */
export function answerLines(question: Pick<Question, 'items'>, mode: Answering): string[] {
  if (isAboutPlan(question)) return ['What should change? (no or reject rejects the plan)'];
  const item = nextOf(question, mode);
  if (item === undefined) return [];
  const oneLine = (text: string) => toSafeText(text).replaceAll('\n', ' ');
  return [
    oneLine(item.question.text),
    ...item.question.choices.map(
      ({ label, description }, index) =>
        `  ${index + 1} ${oneLine(label)}${description === undefined ? '' : `: ${oneLine(description)}`}`,
    ),
  ];
}
