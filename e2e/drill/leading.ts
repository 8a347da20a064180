import type { Result } from '../../protocol/index.ts';
import type { Random } from '../checker/random.ts';
import type { RecordedSocket } from '../checker/recording/record-socket.ts';
import type { Recorder } from '../checker/recording/recorder.ts';

interface Lead {
  /** The coordinator. */
  wsId: string;
  recorder: Recorder;
  socket: RecordedSocket;
  random: Random;
}

/** Answers what the children of a coordinator ask. */
export function decideForChildren({ wsId: lead, recorder, socket, random }: Lead): void {
  socket.request('coordinator.children', { wsId: lead }, ({ payload, ok }) => {
    if (!ok) return;
    // By the methods' contracts.
    const children = new Set((payload as Result<'coordinator.children'>).items.map(({ wsId }) => wsId));
    socket.request('approval.list', {}, (listed) => {
      const { approvals } = (listed.payload ?? { approvals: [] }) as Result<'approval.list'>;
      for (const { wsId, approvalId } of approvals.filter((asked) => children.has(asked.wsId))) {
        const params = { wsId, approvalId, approved: random.chance(0.7) };
        recorder.call({ method: 'approval.resolve', params }, socket);
      }
    });
  });
}

/** Stops and closes all children, once the run of the coordinator has ended. */
export async function closeChildren({ wsId, socket }: Lead): Promise<void> {
  for (const method of ['coordinator.stop', 'coordinator.close'] as const) {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    socket.request(method, { wsId }, resolve);
    await Promise.race([ended, socket.ended]);
  }
}
