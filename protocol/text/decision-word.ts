import type { DecidedBy, QuestionKind, StreamEventOf } from '../stream-events.ts';

type Decided = Pick<
  StreamEventOf<'approval_resolved'>,
  'approved' | 'always' | 'by' | 'denied_call_ids' | 'rule_ids' | 'plan'
>;

/** The decision of an approval in a few words, the same everywhere: how it was decided, or why nobody decided it. */
export function decisionWord(question: QuestionKind, { approved, always, by, ...finer }: Decided): string {
  if (finer.plan === 'revised') return 'Another plan wanted';
  if (!approved) return REFUSALS[by.kind][question];
  if (question === 'outcome') return 'Run again';
  if (question === 'instructions') return 'Used';
  if (question === 'budget') return 'Continued beyond the budget';
  if (question === 'plan') return 'Plan approved';
  if (by.kind === 'judge') return 'Approved by the judge';
  if (always) return 'Approved, and from now on always';
  const some = finer.denied_call_ids ? 'Approved in part' : 'Approved';
  return finer.rule_ids ? `${some}, with a rule for later calls` : some;
}

const same = (word: string): Record<QuestionKind, string> => ({
  tools: word,
  outcome: word,
  instructions: word,
  budget: word,
  plan: word,
});

const REFUSALS: Record<DecidedBy['kind'], Record<QuestionKind, string>> = {
  principal: {
    tools: 'Denied',
    outcome: 'Skipped',
    instructions: 'Not used',
    budget: 'Stopped at the budget',
    plan: 'Plan rejected',
  },
  policy: {
    tools: 'Denied by policy',
    outcome: 'Skipped by policy',
    instructions: 'Not used, by policy',
    budget: 'Stopped by policy',
    plan: 'Plan rejected by policy',
  },
  judge: same('Not approved by the judge'),
  timeout: same('Not decided in time'),
  cancel: same('Cancelled before a decision'),
  shutdown: same('Run ended before a decision'),
};
