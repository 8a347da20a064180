import type { Mode } from '../events/modes.ts';

/** The modes of a workstream for people: a name, and what runs without asking. */
export const MODE_WORDS: Record<Mode, { name: string; means: string }> = {
  ask: { name: 'Ask', means: 'only what is harmless runs without asking' },
  read_only: { name: 'Read only', means: 'only what is harmless runs; everything else is blocked' },
  edits: { name: 'Edits', means: 'changes in its folders, builds and tests run without asking, too' },
  auto: { name: 'Auto', means: 'what the judge approves runs without asking, too' },
  full: { name: 'Full', means: 'everything runs without asking, except what a rule blocks' },
};
