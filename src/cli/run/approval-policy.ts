import type { ParamsInput } from '../../../protocol/index.ts';
import { hasQuestions } from '../chat/answers/typed-answers.ts';
import type { Question } from '../terminal/question-lines.ts';
import { answerGiven, type GivenAnswers } from './given-answers.ts';

export const APPROVE_CHOICES = ['ask', 'deny', 'all'] as const;
export type ApproveChoice = (typeof APPROVE_CHOICES)[number];

export type Decision = Pick<ParamsInput<'approval.resolve'>, 'approved' | 'feedback' | 'decisions'>;

interface Around {
  /** Whether a person is at a terminal. */
  canAsk: boolean;
  answers: GivenAnswers;
}

/** The decision that `--approve` and `--answer` imply; `ask`: a person has to decide. */
export function decideByPolicy(
  choice: ApproveChoice,
  question: Pick<Question, 'kind' | 'items'>,
  { canAsk, answers }: Around,
): Decision | 'ask' {
  const isAsked = choice === 'ask' && canAsk;
  const isForOthers = !hasQuestions(question) || question.kind === 'plan'; // `--answer` approves no plan
  if (isForOthers || answers.left === 0) return isAsked ? 'ask' : decideAlone(choice, question);
  const others = question.items.filter((item) => item.needs_approval && !hasQuestions({ items: [item] }));
  // A person who is there anyway answers everything on the card.
  if (isAsked && others.length > 0) return 'ask';
  const rest = others.length > 0 ? decideAlone(choice, { ...question, items: others }) : { approved: true };
  return { ...rest, decisions: answerGiven(question, answers) };
}

/** Where nobody is there. */
function decideAlone(choice: ApproveChoice, { kind, items }: Pick<Question, 'kind' | 'items'>): Decision {
  if (kind === 'plan') return { approved: false, feedback: 'reject' };
  if (hasQuestions({ items })) return { approved: false, feedback: NOBODY_ANSWERS };
  if (choice !== 'all') {
    return {
      approved: false,
      feedback: 'This run must not do anything that needs approval, because nobody can be asked.',
    };
  }
  // The call may have run already; only a person may decide to run it again.
  if (kind === 'outcome') return { approved: false, feedback: 'Nobody can say whether it is safe to run it again.' };
  // A budget that every script may exceed would be none.
  if (kind === 'budget') return { approved: false, feedback: '--approve all does not spend more than the budget.' };
  // Approving every repetition would let a model that is stuck go on to the run's limits.
  if (items.some(({ repeated }) => repeated !== undefined)) {
    return { approved: false, feedback: 'Nobody can say whether repeating it is useful. Do something else.' };
  }
  return { approved: true };
}

const NOBODY_ANSWERS = 'Nobody is there to answer a question. Decide yourself.';
