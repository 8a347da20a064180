import type { queueContracts } from '../../../protocol/queue/queue-methods.ts';
import type { Handlers } from '../call.ts';
import { callerOf } from '../caller.ts';
import { viewerOf } from '../sharing/perception.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { type QueueChanges, toQueuedMessages } from './queue-changes.ts';

const OK = { status: 'ok' } as const;

export const queueMethods = ({
  workstreams,
  changes,
}: {
  workstreams: Pick<Workstreams, 'get'>;
  changes: QueueChanges;
}): Handlers<keyof typeof queueContracts> => ({
  async 'queue.list'({ wsId }, call) {
    const { queue } = await workstreams.get(wsId, viewerOf(call));
    return { messages: toQueuedMessages(queue) };
  },
  async 'queue.edit'({ wsId, runId, message }, call) {
    const { queue } = await workstreams.get(wsId, viewerOf(call));
    await changes.edit(queue, { runId, message }, callerOf(call).rights);
    return OK;
  },
  async 'queue.move'({ wsId, runId, to }, call) {
    const { queue } = await workstreams.get(wsId, viewerOf(call));
    await changes.move(queue, runId, to);
    return OK;
  },
  async 'queue.steer'({ wsId, runId }, call) {
    const { queue } = await workstreams.get(wsId, viewerOf(call));
    await changes.steer(queue, runId);
    return OK;
  },
  async 'queue.remove'({ wsId, runId }, call) {
    const workstream = await workstreams.get(wsId, viewerOf(call));
    const waits = workstream.queue.find(runId) !== undefined;
    return { removed: waits && (await workstream.cancelRun(runId)) };
  },
});
