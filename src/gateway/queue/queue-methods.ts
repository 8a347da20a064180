import type { queueContracts } from '../../../protocol/queue/queue-methods.ts';
import type { Handlers } from '../call.ts';
import { callerOf } from '../caller.ts';
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
  async 'queue.list'({ wsId }) {
    const { queue } = await workstreams.get(wsId);
    return { messages: toQueuedMessages(queue) };
  },
  async 'queue.edit'({ wsId, runId, message }, call) {
    const { queue } = await workstreams.get(wsId);
    await changes.edit(queue, { runId, message }, callerOf(call).rights);
    return OK;
  },
  async 'queue.move'({ wsId, runId, to }) {
    const { queue } = await workstreams.get(wsId);
    await changes.move(queue, runId, to);
    return OK;
  },
  async 'queue.steer'({ wsId, runId }) {
    const { queue } = await workstreams.get(wsId);
    await changes.steer(queue, runId);
    return OK;
  },
  async 'queue.remove'({ wsId, runId }) {
    const workstream = await workstreams.get(wsId);
    const waits = workstream.queue.find(runId) !== undefined;
    return { removed: waits && (await workstream.cancelRun(runId)) };
  },
});
