import { z } from 'zod';
import { event } from './coordination/event-row.ts';
import { GLOBAL_EVENTS } from './global.ts';

const Node = { node_id: z.string() };
const { type: _state, run: _run, content: _content, ...stateShape } = GLOBAL_EVENTS.ws_state.shape;
const { type: _created, ...createdShape } = GLOBAL_EVENTS.ws_created.shape;
const { type: _closed, ...closedShape } = GLOBAL_EVENTS.ws_closed.shape;
const { type: _renamed, ...renamedShape } = GLOBAL_EVENTS.ws_rename.shape;

/** The later events of the stream of all machines; the first one is a `snapshot`. */
export const CLUSTER_EVENTS = {
  cluster_state: event('cluster_state', { ...stateShape, ...Node }, 'ClusterState'),
  ws_created: event('ws_created', { ...createdShape, ...Node }, 'ClusterWsCreated'),
  ws_closed: event('ws_closed', { ...closedShape, ...Node }, 'ClusterWsClosed'),
  ws_rename: event('ws_rename', { ...renamedShape, ...Node }, 'ClusterWsRename'),
  node_joined: event('node_joined', Node, 'ClusterNodeJoined'),
  node_lost: event('node_lost', Node, 'ClusterNodeLost'),
} as const;

/** A machine is there, or is no longer there. */
export type NodeEvent = z.infer<typeof CLUSTER_EVENTS.node_joined> | z.infer<typeof CLUSTER_EVENTS.node_lost>;
