import type { Cluster } from '../../gateway/cluster/cluster.ts';
import { toSnapshot } from '../../gateway/cluster/views.ts';
import { toSnapshotReply } from '../routes/cluster.ts';
import { type EventRouteDeps, type StreamRequest, streamChanges } from '../routes/events.ts';
import type { Change } from '../streams/latest.ts';

/** Streams a snapshot of all machines, then what changes. */
export const streamCluster =
  (cluster: Pick<Cluster, 'here' | 'read' | 'onStandbys'>) =>
  (request: StreamRequest<unknown>, deps: EventRouteDeps): Promise<void> =>
    streamChanges(request, deps, {
      async first() {
        const snapshot = toSnapshotReply(toSnapshot(await cluster.read(request.principal), deps.clock.now()));
        return [JSON.stringify(Object.assign({ type: 'snapshot' }, snapshot))];
      },
      toJson: (event) => toJson(event, cluster.here.nodeId),
      onOther: cluster.onStandbys,
    });

/** Activities are part of the states. On their own they are for clients that watch one machine, like its health. */
function toJson(event: Change, nodeId: string): string | undefined {
  if ('node_id' in event) return JSON.stringify(event);
  if (event.type === 'ws_activity' || event.type === 'health_changed') return undefined;
  if (event.type !== 'ws_state') return JSON.stringify(Object.assign({}, event, { node_id: nodeId }));
  const { run: _run, content: _content, ...state } = event;
  return JSON.stringify(Object.assign({}, state, { type: 'cluster_state', node_id: nodeId }));
}
