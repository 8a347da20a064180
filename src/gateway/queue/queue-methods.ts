import type { queueContracts } from '../../../protocol/queue/queue-methods.ts';
import type { Handlers } from '../call.ts';
import { callerOf } from '../caller.ts';
import type { Runs } from '../runs/runs.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { type QueueChanges, toQueuedMessages } from './queue-changes.ts';

const OK = { status: 'ok' } as const;

export const queueMethods = ({
  workstreams,
  runs,
  changes,
}: {
  workstreams: Pick<Workstreams, 'get'>;
  runs: Pick<Runs, 'find'>;
  changes: QueueChanges;
}): Handlers<keyof typeof queueContracts> => ({
  async 'queue.list'({ wsId }, call) {
    const { queue } = await workstreams.get(wsId, viewerOf(call));
    return { messages: toQueuedMessages(queue) };
  },
  async 'queue.edit'({ wsId, runId, message }, call) {
    const { queue } = await workstreams.get(wsId, viewerOf(call));
    await changes.edit(queue, { runId, message }, callerOf(call));
    return OK;
  },
  async 'queue.move'({ wsId, runId, to }, call) {
    const { queue, hold } = await workstreams.get(wsId, viewerOf(call));
    await changes.move(queue, runId, to);
    hold.firstChanged();
    return OK;
  },
  async 'queue.steer'({ wsId, runId }, call) {
    const { queue } = await workstreams.get(wsId, viewerOf(call));
    await changes.steer(queue, runId);
    return OK;
  },
  async 'queue.remove'({ wsId, runId }, call) {
    const viewer = viewerOf(call);
    const workstream = await workstreams.get(wsId, viewer);
    // The caller's own message comes first: the id of another caller's run may be the same text as its key.
    const own = await runs.find(runId, { principal: callerOf(call).principal, wsId: workstream.data.wsId, viewer });
    const waiting = workstream.queue.find(own?.run.runId ?? runId);
    return { removed: waiting !== undefined && (await workstream.cancelRun(waiting.run.runId)) };
  },
});
