import type { DecidedBy, StreamEventOf } from '../stream-events.ts';

type Question = StreamEventOf<'approve_request'>['kind'];
type Decided = Pick<StreamEventOf<'approval_resolved'>, 'approved' | 'always' | 'by'>;

/** The decision of an approval in a few words, the same everywhere: how it was decided, or why nobody decided it. */
export function decisionWord(question: Question, { approved, always, by }: Decided): string {
  if (!approved) return REFUSALS[by.kind][question];
  if (question === 'outcome') return 'Run again';
  return always ? 'Approved, and from now on always' : 'Approved';
}

const same = (word: string): Record<Question, string> => ({ tools: word, outcome: word });

const REFUSALS: Record<DecidedBy['kind'], Record<Question, string>> = {
  principal: { tools: 'Denied', outcome: 'Skipped' },
  policy: { tools: 'Denied by policy', outcome: 'Skipped by policy' },
  timeout: same('Not decided in time'),
  cancel: same('Cancelled before a decision'),
  shutdown: same('Run ended before a decision'),
};
