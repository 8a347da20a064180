import { z } from 'zod';
import { MAX_WAITED } from '../../coordinator/coordination.ts';
import type { Tool } from '../tool.ts';
import { coordinatorCall } from './coordinator-call.ts';
import { toSeen } from './seen.ts';

const MAX_SECS = 600;
const USUAL_SECS = 120;

const WaitArguments = z.strictObject({
  ws_ids: z.array(z.string().max(128)).min(1).max(MAX_WAITED).describe('The workstreams, by their ws_id'),
  mode: z.enum(['all', 'any']).default('all').describe('Whether all have to be idle, or one of them'),
  timeout_secs: z.int().min(1).max(MAX_SECS).default(USUAL_SECS).describe('How long to wait at most'),
});

/** Waits until workstreams are idle, and returns their last answers. */
export const waitTool: Tool<z.infer<typeof WaitArguments>> = {
  name: 'wait_for_workstream',
  kind: 'coordinator',
  description:
    'Waits until workstreams below you have nothing more to do, and returns the last message of each, as data. After the timeout it returns {"done": false} with what there is; call it again to go on waiting. A workstream with waits_for_person goes on only when a person has answered.',
  parameters: WaitArguments,
  readOnly: true,
  safeToRepeat: true, // it waits again
  prepare: async ({ ws_ids: wsIds, mode, timeout_secs: secs }, context) =>
    coordinatorCall(context, {
      name: 'wait_for_workstream',
      subject: `${wsIds.length === 1 ? '1 workstream' : `${mode} of ${wsIds.length} workstreams`}, at most ${secs} s`,
      stored: 'read',
      async execute(coordination, { maxOutputBytes, signal }) {
        const distinct = [...new Set(wsIds)];
        const { end, seen } = await coordination.wait(context.callId, distinct, {
          all: mode === 'all',
          timeoutMs: secs * 1_000,
          signal,
        });
        return { ...toSeen(seen, maxOutputBytes, { done: end.isMet }), waited: end };
      },
    }),
};
