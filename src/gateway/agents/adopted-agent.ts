import type { Progress } from '../../agent/run/journal.ts';
import type { NewApproval } from '../../agent/run/recorder.ts';
import type { NumberedMessage } from '../../agent/run/window/run-window.ts';
import type { FoundQuestion } from '../usage/budget-questions.ts';
import type { StoredAgent } from './sub-agent-rows.ts';

/** A sub-agent with what its journal and messages hold. */
export interface AdoptedAgent {
  stored: StoredAgent;
  progress: Progress;
  numbered: NumberedMessage[];
  pending?: NewApproval;
  /** See `AdoptedRun`. */
  question?: FoundQuestion;
}
