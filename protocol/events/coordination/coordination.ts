import { z } from 'zod';
import { event } from './event-row.ts';

const Count = z.int().min(0);

/** What a coordinator's call makes or ends in one go. */
const BATCH_OPS = ['spawn_batch', 'close_all_children'] as const;

const child = { child_ws_id: z.string() };
const batch = { call_id: z.string(), op: z.enum(BATCH_OPS) };

/** Events of a coordinator: what its own children do, and the calls that wait for several of them or make them. */
export const coordinationEvents = <S extends z.ZodType>(state: S) => {
  const wait = { call_id: z.string(), ws_ids: z.array(z.string()) };
  const waiting = {
    ...wait,
    elapsed: z.number().min(0), // seconds since this wait began
    /** By `ws_id`. */
    results: z.record(z.string(), z.object({ state })),
    /** That came for which it waits. */
    complete: z.boolean(),
  };
  return {
    /** One of its own children was made, opened again, or is seen now by all who see the coordinator. */
    child_ws_created: event('child_ws_created', {
      ...child,
      node_id: z.string(),
      name: z.string(),
      parent_ws_id: z.string(),
    }),
    child_ws_state: event('child_ws_state', { ...child, state }),
    /** It was closed or deleted, or not everybody who sees the coordinator sees it any more. */
    child_ws_closed: event('child_ws_closed', child),
    child_ws_rename: event('child_ws_rename', { ...child, name: z.string() }),
    /** A call of `wait_for_workstream` waits. After a restart of the daemon, the same call may begin to wait again. */
    wait_started: event('wait_started', { ...wait, mode: z.enum(['all', 'any']), timeout_secs: Count }),
    /** One of them became idle, or works again. */
    wait_progress: event('wait_progress', waiting),
    wait_ended: event('wait_ended', waiting),
    /** A call makes or closes several workstreams. After a restart of the daemon, the same call may begin again. */
    batch_started: event('batch_started', { ...batch, total: Count }),
    batch_ended: event('batch_ended', {
      ...batch,
      total: Count,
      // of `spawn_batch`:
      succeeded: Count.optional(),
      denied: Count.optional(), // could not be made
      // of `close_all_children`:
      closed: Count.optional(),
      failed: Count.optional(),
      skipped: Count.optional(), // were closed before
    }),
  };
};
