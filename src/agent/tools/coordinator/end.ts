import { z } from 'zod';
import { MAX_OPEN_CHILDREN, type Outcomes } from '../../coordinator/coordination.ts';
import type { Tool, ToolOutcome } from '../tool.ts';
import { asData, coordinatorCall, WS_ID_WORDS } from './coordinator-call.ts';

const Several = z.strictObject({
  ws_ids: z.array(z.string().max(128)).min(1).max(MAX_OPEN_CHILDREN).describe('The workstreams, by their ws_id'),
});
type Several = z.infer<typeof Several>;

/** Stops what workstreams do now. */
export const cancelTool: Tool<Several> = {
  name: 'cancel_workstream',
  kind: 'coordinator',
  description:
    'Stops what workstreams below you do now, with the messages that wait there. They stay, and can be sent messages. Returns {"cancelled", "failed", "skipped"}; skipped: nothing ran.',
  parameters: Several,
  readOnly: false,
  safeToRepeat: true,
  prepare: async ({ ws_ids: wsIds }, context) =>
    coordinatorCall(context, {
      name: 'cancel_workstream',
      subject: toWords(wsIds),
      stored: 'changed',
      execute: async (coordination) => toOutcome('cancelled', await coordination.cancel([...new Set(wsIds)])),
    }),
};

/** Closes workstreams. */
export const closeTool: Tool<Several> = {
  name: 'close_workstream',
  kind: 'coordinator',
  description:
    'Closes workstreams below you that have nothing more to do; what still runs there is stopped, and their conversations stay saved. Returns {"closed", "failed", "skipped"}; skipped: closed before.',
  parameters: Several,
  readOnly: false,
  safeToRepeat: true,
  prepare: async ({ ws_ids: wsIds }, context) =>
    coordinatorCall(context, {
      name: 'close_workstream',
      subject: toWords(wsIds),
      stored: 'changed',
      execute: async (coordination) => toOutcome('closed', await coordination.close([...new Set(wsIds)])),
    }),
};

const Nothing = z.strictObject({});

/** Closes everything that the coordinator made itself. */
export const closeAllTool: Tool<z.infer<typeof Nothing>> = {
  name: 'close_all_children',
  kind: 'coordinator',
  description: 'Closes all workstreams that you made yourself, like close_workstream. For the end of the work.',
  parameters: Nothing,
  readOnly: false,
  safeToRepeat: true,
  prepare: async (_, context) =>
    coordinatorCall(context, {
      name: 'close_all_children',
      subject: '',
      stored: 'changed',
      execute: async (coordination) => toOutcome('closed', await coordination.closeAll(context.callId)),
    }),
};

const One = z.strictObject({ ws_id: z.string().max(128).describe(WS_ID_WORDS) });

/** Deletes a workstream with its conversation, which always asks. */
export const deleteTool: Tool<z.infer<typeof One>> = {
  name: 'delete_workstream',
  kind: 'coordinator',
  description:
    'Deletes a workstream below you with its whole conversation, which nobody can bring back. Close it instead unless the person wants it gone.',
  parameters: One,
  readOnly: false,
  safeToRepeat: false,
  prepare: async ({ ws_id: wsId }, context) =>
    coordinatorCall(context, {
      name: 'delete_workstream',
      subject: wsId,
      needsApproval: true,
      asksAnyhow: true,
      stored: 'changed',
      async execute(coordination) {
        await coordination.remove(wsId);
        return asData({ deleted: wsId });
      },
    }),
};

const toWords = (wsIds: readonly string[]): string =>
  wsIds.length === 1 ? (wsIds[0] ?? '') : `${wsIds.length} workstreams`;

function toOutcome(name: 'cancelled' | 'closed', { done, failed, skipped }: Outcomes): ToolOutcome {
  const outcome = failed.length > 0 && done.length === 0 ? 'failed' : 'done';
  return { output: JSON.stringify({ [name]: done, failed, skipped }), outcome };
}
