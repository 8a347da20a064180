import { GatewayError } from '../../../../protocol/errors.ts';
import type { checkpointContracts } from '../../../../protocol/methods/conversation/checkpoint.ts';
import { type Call, type Handlers, keptOf } from '../../call.ts';
import type { Checkpoints, UndoTarget } from '../../checkpoints/checkpoints.ts';
import { viewerOf } from '../../sharing/perception.ts';
import { whileLoaded } from '../../workstreams/closing.ts';
import { unknownWorkstream } from '../../workstreams/session-keys.ts';
import type { Workstreams } from '../../workstreams/workstreams.ts';

interface CheckpointMethodDeps {
  workstreams: Pick<Workstreams, 'get' | 'isStored'>;
  checkpoints: Checkpoints;
}

type Methods = Handlers<keyof typeof checkpointContracts>;
type Done = Awaited<ReturnType<Methods['checkpoint.undo']>>;
type ChangeParams = Parameters<Methods['checkpoint.undo']>[0];

export function checkpointMethods({ workstreams, checkpoints }: CheckpointMethodDeps): Methods {
  const change = async (
    direction: 'undo' | 'redo',
    { wsId, runId, path, onConflict = 'refuse', choices = [] }: ChangeParams,
    call: Call,
  ): Promise<Done> => {
    if (path !== undefined && (onConflict !== 'refuse' || choices.length > 0))
      throw new GatewayError(
        'INVALID_REQUEST',
        'A single file is changed only if it is as expected: leave out onConflict and choices',
      );
    const kept = keptOf<Done>(call);
    if (kept) return kept;
    const target: UndoTarget & { direction: typeof direction } = { direction, runId, path, onConflict, choices };
    const done = await whileLoaded(
      () => workstreams.get(wsId, viewerOf(call)),
      (workstream) =>
        checkpoints.change(workstream, target, {
          decided: (planned) => [
            ...call.keep({ status: 'ok', ...planned }),
            ...call.audited({ runIds: planned.runIds, files: planned.changed.length, kept: planned.kept.length }),
          ],
          failed: (whole) => call.keep({ status: 'ok', ...whole }),
        }),
    );
    return { status: 'ok', ...done };
  };
  /** What was stored can be read without loading the workstream, also while it is closed. */
  const requireStored = async (wsId: string, call: Call): Promise<void> => {
    if (!(await workstreams.isStored(wsId, viewerOf(call)))) throw unknownWorkstream();
  };
  return {
    'checkpoint.list': async ({ wsId }, call) => {
      await requireStored(wsId, call);
      return { enabled: checkpoints.isOn, checkpoints: await checkpoints.list(wsId) };
    },
    'checkpoint.diff': async ({ wsId, ...which }, call) => {
      await requireStored(wsId, call);
      return checkpoints.compare(wsId, which);
    },
    'checkpoint.preview': ({ wsId, direction = 'undo', runId }, call) =>
      whileLoaded(
        () => workstreams.get(wsId, viewerOf(call)),
        (workstream) => checkpoints.preview(workstream, { direction, runId }),
      ),
    'checkpoint.undo': (params, call) => change('undo', params, call),
    'checkpoint.redo': (params, call) => change('redo', params, call),
  };
}
