import { formatCursor, parseCursor } from '../../../protocol/cursor.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { eventsContracts } from '../../../protocol/methods/events.ts';
import type { Call, Handlers, Subscriptions } from '../call.ts';
import type { EventLog } from '../events/event-log.ts';
import { resumption } from '../events/resumption.ts';
import type { Snapshots } from '../history/snapshot.ts';
import type { Viewers } from '../presence/viewers.ts';
import { type Viewer, viewerOf } from '../sharing/perception.ts';
import { Elsewhere } from '../workers/elsewhere.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

interface EventsMethodDeps {
  workstreams: Workstreams;
  snapshots: Snapshots;
  events: EventLog;
  viewers: Viewers;
}

export const eventsMethods = (deps: EventsMethodDeps): Handlers<keyof typeof eventsContracts> => ({
  'events.subscribe': async ({ wsId, after }, call) => {
    const { workstreams, snapshots, events } = deps;
    const subscriptions = subscriptionsOf(call);
    const workstream = await workstreams.get(wsId, viewerOf(call));
    const since = events.endings;
    const cursor = parseCursor(after);
    const resumed = cursor && resumption(cursor, { epoch: events.epoch, ...events.bounds(wsId) });
    if (resumed?.recovered) {
      subscriptions.add(workstream.data, resumed.offset, since);
      return { cursor: formatCursor({ epoch: events.epoch, offset: resumed.offset }), recovered: true };
    }
    const taken = await snapshots.take(workstream);
    subscriptions.add(workstream.data, taken.after, since);
    const { cursor: at, snapshot } = taken;
    return { cursor: at, recovered: false, ...(resumed?.reason && { reason: resumed.reason }), snapshot };
  },
  'events.unsubscribe': ({ wsId }, call) => ({ ok: true, removed: subscriptionsOf(call).remove(wsId) }),
  'events.view': async ({ wsId }, call) => {
    subscriptionsOf(call); // only a connection can show one
    const viewer = viewerOf(call);
    if (wsId !== undefined) await requirePerceived(wsId, viewer, deps);
    deps.viewers.view({ wsId, viewer, signal: call.signal });
    return { userIds: wsId === undefined ? [] : deps.viewers.of(wsId) };
  },
});

/** Who views a workstream of another machine is not told there. */
async function requirePerceived(wsId: string, viewer: Viewer, { workstreams }: EventsMethodDeps): Promise<void> {
  await workstreams.get(wsId, viewer).catch((error: unknown) => {
    if (!(error instanceof Elsewhere)) throw error;
  });
}

function subscriptionsOf({ subscriptions }: Call): Subscriptions {
  if (subscriptions) return subscriptions;
  throw new GatewayError('INVALID_REQUEST', 'Subscriptions need a WebSocket; over HTTP open /v1/api/events');
}
