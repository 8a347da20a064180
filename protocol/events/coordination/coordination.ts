import { z } from 'zod';

const Count = z.int().min(0);

/** What a coordinator's call makes or ends in one go. */
export const BATCH_OPS = ['spawn_batch', 'close_all_children'] as const;

const child = { child_ws_id: z.string() };
const batch = { call_id: z.string(), op: z.enum(BATCH_OPS) };

/** Events of a coordinator: what its own children do, and the calls that wait for several of them or make them. */
export const coordinationShapes = <S extends z.ZodType>(state: S) => {
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
    child_ws_created: { ...child, node_id: z.string(), name: z.string(), parent_ws_id: z.string() },
    child_ws_state: { ...child, state },
    child_ws_closed: child,
    child_ws_rename: { ...child, name: z.string() },
    wait_started: { ...wait, mode: z.enum(['all', 'any']), timeout_secs: Count },
    wait_progress: waiting,
    wait_ended: waiting,
    batch_started: { ...batch, total: Count },
    batch_ended: {
      ...batch,
      total: Count,
      // of `spawn_batch`:
      succeeded: Count.optional(),
      denied: Count.optional(), // could not be made
      // of `close_all_children`:
      closed: Count.optional(),
      failed: Count.optional(),
      skipped: Count.optional(), // were closed before
    },
  };
};
