import type { Signal } from '@preact/signals';
import { LIMITS } from '../../../../protocol/limits.ts';
import { type GivenAnswers, questionsIn } from '../../state/approvals/given-answers.ts';
import type { AskedQuestion } from '../../state/approvals/rule-choices.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import type { DeniedCalls } from './call-choice.tsx';

interface AnswerFieldsProps {
  approval: AskedQuestion;
  answers: Signal<GivenAnswers>;
  denied: DeniedCalls;
}

/** The agent's questions, each with its choices and a field for any other answer. */
export function AnswerFields({ approval, answers, denied }: AnswerFieldsProps) {
  return (
    <>
      {questionsIn(approval)
        .filter(({ callId }) => !denied.value.includes(callId))
        .map(({ callId, question }) => {
          const given = answers.value[callId] ?? { text: '' };
          const set = (change: Partial<typeof given>) => {
            answers.value = { ...answers.peek(), [callId]: { ...given, ...change } };
          };
          return (
            <fieldset key={callId} class="asked-answer">
              <legend>{showHidden(question.text)}</legend>
              {question.choices.map(({ label, description }) => (
                <button
                  key={label}
                  type="button"
                  class="answer-choice"
                  aria-pressed={given.choice === label}
                  onClick={() => set({ choice: given.choice === label ? undefined : label })}
                >
                  <b>{showHidden(label)}</b>
                  {description !== undefined && <span>{showHidden(description)}</span>}
                </button>
              ))}
              <textarea
                aria-label={`Answer: ${showHidden(question.text)}`}
                placeholder={question.choices.length > 0 ? 'Another answer, or a remark' : 'Your answer'}
                rows={2}
                maxLength={LIMITS.answerChars}
                value={given.text}
                onInput={({ currentTarget }) => set({ text: currentTarget.value })}
              />
            </fieldset>
          );
        })}
    </>
  );
}
