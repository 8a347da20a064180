import type { AskedQuestion as AgentQuestion } from '../../../../protocol/events/questions/asked-question.ts';
import type { CallDecisions } from '../../../../protocol/methods/approval.ts';
import { type AskedQuestion, asksAbout } from './rule-choices.ts';

/** What a person has entered so far, by call. */
export type GivenAnswers = Readonly<Record<string, { text: string; choice?: string | undefined }>>;

/** The questions of the agent among the calls that ask. */
export const questionsIn = (asked: AskedQuestion): { callId: string; question: AgentQuestion }[] =>
  asked.items.flatMap((item) =>
    item.question && asksAbout(asked, item) ? [{ callId: item.call_id, question: item.question }] : [],
  );

/** Whether the agent only asks, and nothing would run. */
export function isOnlyQuestions(asked: AskedQuestion): boolean {
  const { length } = questionsIn(asked);
  return length > 0 && length === asked.items.filter((item) => asksAbout(asked, item)).length;
}

/** The answers to all questions that are not skipped; without an entry, the answer is empty. */
export const toAnswers = (asked: AskedQuestion, answers: GivenAnswers, denied: readonly string[]): CallDecisions =>
  Object.fromEntries(
    questionsIn(asked)
      .filter(({ callId }) => !denied.includes(callId))
      .map(({ callId }) => {
        const { text = '', choice } = answers[callId] ?? {};
        const isEmpty = text.trim() === '' && choice !== undefined;
        return [
          callId,
          { approved: true, ...(!isEmpty && { answer: text.trim() }), ...(choice !== undefined && { choice }) },
        ];
      }),
  );
