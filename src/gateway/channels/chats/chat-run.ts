import type { RunHandle } from '../../runs/run-record.ts';
import { DAEMON } from '../../sharing/perception.ts';
import type { Workstream } from '../../workstreams/workstream.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';

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

/** The runs of chats of a service that are in progress or wait. */
export const openRunsOf = (channel: string, workstreams: Pick<Workstreams, 'list'>) =>
  workstreams
    .list(DAEMON)
    .flatMap((workstream) => handlesIn(workstream).map((handle) => runOf(workstream, handle)))
    .flatMap((work) => {
      const { deliver, fromChat } = work.run.request;
      return deliver?.provider === channel && fromChat ? [{ chat: deliver.to, work }] : [];
    });

const handlesIn = ({ current, queue }: Workstream): RunHandle[] => [
  ...(current ? [current] : []),
  ...queue.all().map(({ run, ended }) => ({ run, ended: ended.promise })),
];
