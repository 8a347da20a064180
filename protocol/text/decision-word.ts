import type { DecidedBy, QuestionKind, StreamEventOf } from '../stream-events.ts';

type Decided = Pick<StreamEventOf<'approval_resolved'>, 'approved' | 'always' | 'by'>;

/** The decision of an approval in a few words, the same everywhere: how it was decided, or why nobody decided it. */
export function decisionWord(question: QuestionKind, { approved, always, by }: Decided): string {
  if (!approved) return REFUSALS[by.kind][question];
  if (question === 'outcome') return 'Run again';
  if (question === 'instructions') return 'Used';
  if (question === 'budget') return 'Continued beyond the budget';
  return always ? 'Approved, and from now on always' : 'Approved';
}

const same = (word: string): Record<QuestionKind, string> => ({
  tools: word,
  outcome: word,
  instructions: word,
  budget: word,
});

const REFUSALS: Record<DecidedBy['kind'], Record<QuestionKind, string>> = {
  principal: { tools: 'Denied', outcome: 'Skipped', instructions: 'Not used', budget: 'Stopped at the budget' },
  policy: {
    tools: 'Denied by policy',
    outcome: 'Skipped by policy',
    instructions: 'Not used, by policy',
    budget: 'Stopped by policy',
  },
  timeout: same('Not decided in time'),
  cancel: same('Cancelled before a decision'),
  shutdown: same('Run ended before a decision'),
};
