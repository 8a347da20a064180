import type { StreamEvent } from '../../stream-events.ts';
import type { coordinationEvents } from './coordination.ts';

type Coordination = Extract<StreamEvent, { type: keyof ReturnType<typeof coordinationEvents> }>;

const TYPES: readonly string[] = [
  ...(['child_ws_created', 'child_ws_state', 'child_ws_closed', 'child_ws_rename'] as const),
  ...(['wait_started', 'wait_progress', 'wait_ended', 'batch_started', 'batch_ended'] as const),
] satisfies Coordination['type'][];

/** Whether an event tells of the children of a coordinator, or of calls about several of them. */
export const isCoordination = (event: StreamEvent): event is Coordination => TYPES.includes(event.type);
