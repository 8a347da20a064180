import type { ParamsInput } from '../../../protocol/index.ts';
import type { Question } from '../terminal/question-lines.ts';

export const APPROVE_CHOICES = ['ask', 'deny', 'all'] as const;
export type ApproveChoice = (typeof APPROVE_CHOICES)[number];

type Decision = Pick<ParamsInput<'approval.resolve'>, 'approved' | 'feedback'>;

/** The decision that `--approve` implies; `ask`: a person has to decide. */
export function decideByPolicy(
  choice: ApproveChoice,
  { kind, items }: Pick<Question, 'kind' | 'items'>,
  { canAsk }: { canAsk: boolean },
): Decision | 'ask' {
  if (choice === 'ask' && canAsk) return 'ask';
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
  if (kind === 'plan') return { approved: false, feedback: 'reject' };
  if (items.some(({ question }) => question !== undefined))
    return { approved: false, feedback: 'Nobody is there to answer a question. Decide yourself.' };
  // Approving every repetition would let a model that is stuck go on to the run's limits.
  if (items.some(({ repeated }) => repeated !== undefined)) {
    return { approved: false, feedback: 'Nobody can say whether repeating it is useful. Do something else.' };
  }
  return { approved: true };
}
