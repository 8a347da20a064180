import { z } from 'zod';
import { checkpointEndpoints } from '../../../../protocol/http/files/checkpoint.ts';
import type { Params, Result } from '../../../../protocol/index.ts';
import type { ShownCheckpoint } from '../../../../protocol/methods/conversation/checkpoint.ts';
import { bind, given } from '../../bind.ts';
import { iso } from '../../iso.ts';

const toCheckpoint = ({ runId, afterSeq, beganMs, leftOut, ...same }: ShownCheckpoint) => ({
  run_id: runId,
  after_seq: afterSeq,
  began: iso(beganMs),
  left_out: leftOut,
  ...same,
});

type Request = z.output<ReturnType<typeof checkpointEndpoints.undo.request>>;

const change = {
  fieldNames: { runId: 'run_id', onConflict: 'on_conflict' },
  params: ({ ws_id, run_id, path, on_conflict, choices }: Request): Params<'checkpoint.undo'> => ({
    wsId: ws_id,
    runId: given(run_id),
    path: given(path),
    onConflict: on_conflict ?? undefined,
    choices: choices ?? undefined,
  }),
  reply: ({ runIds, ...same }: Result<'checkpoint.undo'>) => ({ run_ids: runIds, ...same }),
  refusal(details: unknown) {
    const { data } = Conflicts.safeParse(details);
    return data ? { conflicts: data.conflicts } : {};
  },
};

/** The details of a refused change, from the gateway. */
const Conflicts = z.object({ conflicts: z.array(z.object({ path: z.string(), reason: z.string() })) });

export const checkpointRoutes = [
  bind(checkpointEndpoints.list, 'checkpoint.list', {
    params: ({ ws_id }) => ({ wsId: ws_id }),
    reply: ({ enabled, checkpoints }) => ({ enabled, checkpoints: checkpoints.map(toCheckpoint) }),
  }),
  bind(checkpointEndpoints.diff, 'checkpoint.diff', {
    fieldNames: { runId: 'run_id' },
    params: ({ ws_id, run_id, path }) => ({ wsId: ws_id, runId: given(run_id), path: given(path) }),
    reply: ({ checkpoint, files, leftOut }) => ({ checkpoint: toCheckpoint(checkpoint), files, left_out: leftOut }),
  }),
  bind(checkpointEndpoints.preview, 'checkpoint.preview', {
    fieldNames: { runId: 'run_id' },
    params: ({ ws_id, direction, run_id }) => ({
      wsId: ws_id,
      direction: direction ?? undefined,
      runId: given(run_id),
    }),
    reply: ({ runIds, ...same }) => ({ run_ids: runIds, ...same }),
  }),
  bind(checkpointEndpoints.undo, 'checkpoint.undo', change),
  bind(checkpointEndpoints.redo, 'checkpoint.redo', change),
];
