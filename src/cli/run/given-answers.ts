import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { CallDecisions } from '../../../protocol/methods/approval.ts';
import { answerTyped, hasQuestions } from '../chat/answers/typed-answers.ts';
import type { Question } from '../terminal/question-lines.ts';

/** The texts of `--answer`, each of which answers one question of the agent. */
export interface GivenAnswers {
  readonly left: number;
  /** Undefined if all have been used. */
  take(): string | undefined;
}

export function createGivenAnswers(texts: readonly string[]): GivenAnswers {
  const waiting = [...texts];
  return {
    get left() {
      return waiting.length;
    },
    take: () => waiting.shift(),
  };
}

/** What is said about each question of a card; the other calls are left to whoever decides about them. */
export function answerGiven({ items }: Pick<Question, 'items'>, answers: GivenAnswers): CallDecisions {
  const asked = items.filter((item) => hasQuestions({ items: [item] }));
  return Object.fromEntries(asked.flatMap((item) => Object.entries(answerOne(item, answers.take()))));
}

function answerOne(item: ApprovalItem, text: string | undefined): CallDecisions {
  if (text === undefined) return { [item.call_id]: { approved: false, feedback: NO_MORE } };
  const { decision } = answerTyped({ items: [item] }, { kind: 'answer', approvalId: '', given: {} }, text);
  return decision && 'decisions' in decision ? decision.decisions : {};
}

const NO_MORE = 'No answer was prepared for this question, and nobody is there. Decide yourself.';
