import type { RunHandle } from '../../runs/run-record.ts';
import type { Workstream } from '../../workstreams/workstream.ts';

/** A run that a message of a chat has started. */
export interface ChatRun extends RunHandle {
  /** Whether its workstream executes this run now: others may wait or go first. */
  isCurrent(): boolean;
}

export const runOf = (workstream: Workstream, { run, ended }: RunHandle): ChatRun => ({
  run,
  ended,
  isCurrent: () => workstream.current?.run.runId === run.runId,
});
