import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const Place = { ws_id: z.string() };
const text = z.string().nullish();
const Change = z.enum(['added', 'modified', 'deleted']);
const OnConflict = z.enum(['refuse', 'keep', 'overwrite']);
const BUSY = 'An answer is in progress, or files have changed since';
const UNKNOWN = 'Unknown workstream, or nothing to take back';

const Checkpoint = z.object({
  run_id: z.string(),
  after_seq: z.int(),
  state: z.enum(['open', 'done', 'undone']),
  began: z.string(),
  files: z.int(),
  left_out: z.int(),
  folders: z.array(z.string()),
  unavailable: z.array(z.object({ path: z.string(), reason: z.enum(['files', 'time']) })),
  discard: z.literal(true).optional(),
});

const changeRequest = () =>
  z.object({
    ...Place,
    run_id: text,
    path: text,
    on_conflict: OnConflict.nullish(),
    choices: z
      .array(z.object({ path: z.string(), choice: z.enum(['keep', 'overwrite']) }))
      .max(10_000)
      .nullish(),
  });

/** What a change of files did. */
export const changeReply = () =>
  z.object({
    status: z.literal('ok'),
    run_ids: z.array(z.string()),
    changed: z.array(z.string()),
    kept: z.array(z.string()),
    missing: z.array(z.string()),
    failed: z.array(z.object({ path: z.string(), why: z.string() })),
  });

/** What runs changed on disk (HTTP.md, "Undo"). */
export const checkpointEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/checkpoints',
    summary: 'The runs of a workstream that changed files, newest first.',
    scope: 'read',
    request: () => z.object(Place),
    reply: () => z.object({ enabled: z.boolean(), checkpoints: z.array(Checkpoint) }),
    errors: { 404: 'Unknown workstream' },
  }),
  diff: endpoint({
    verb: 'get',
    path: '/v1/api/workstreams/{ws_id}/diff',
    summary: 'What a run changed on disk, file by file.',
    scope: 'read',
    request: () => z.object({ ...Place, run_id: text, path: text }),
    reply: () =>
      z.object({
        checkpoint: Checkpoint,
        files: z.array(
          z.object({
            path: z.string(),
            change: Change,
            modes: z.object({ before: z.int(), after: z.int() }).optional(),
            additions: z.int(),
            deletions: z.int(),
            diff: z.string().optional(),
            without: z.enum(['binary', 'large', 'secret', 'left_out', 'budget']).optional(),
          }),
        ),
        left_out: z.array(z.object({ path: z.string(), reason: z.enum(['size', 'total', 'unreadable']) })),
      }),
    errors: { 404: UNKNOWN, 409: 'The run is still in progress' },
  }),
  preview: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/undo/preview',
    summary: 'What an undo or a redo would change now, and its conflicts. Changes nothing.',
    scope: 'write',
    request: () => z.object({ ...Place, direction: z.enum(['undo', 'redo']).nullish(), run_id: text }),
    reply: () =>
      z.object({
        run_ids: z.array(z.string()),
        changes: z.array(z.object({ path: z.string(), change: Change })),
        conflicts: z.array(
          z.object({ path: z.string(), reason: z.enum(['changed', 'removed', 'created', 'unknown']) }),
        ),
        missing: z.array(z.string()),
      }),
    errors: { 404: UNKNOWN, 409: BUSY },
  }),
  undo: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/undo',
    summary: 'Take back what the last run changed on disk, or all runs since a certain one.',
    scope: 'write',
    request: changeRequest,
    reply: changeReply,
    errors: { 404: UNKNOWN, 409: BUSY },
    idempotencyKey: true,
  }),
  redo: endpoint({
    verb: 'post',
    path: '/v1/api/workstreams/{ws_id}/redo',
    summary: 'Bring back what an undo took back.',
    scope: 'write',
    request: changeRequest,
    reply: changeReply,
    errors: { 404: UNKNOWN, 409: BUSY },
    idempotencyKey: true,
  }),
};
