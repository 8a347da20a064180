import { z } from 'zod';
import { GatewayError } from '../../../../protocol/errors.ts';
import type { Coordination, Target } from '../../coordinator/coordination.ts';
import type { Prepared, Tool, ToolContext } from '../tool.ts';
import { asData, coordinatorCall, NOT_HERE, WS_ID_WORDS } from './coordinator-call.ts';

const SendArguments = z.strictObject({
  ws_id: z.string().max(128).describe(WS_ID_WORDS),
  message: z.string().min(1).max(32_000).describe('It begins a turn there, or waits for the one in progress'),
});
type SendArguments = z.infer<typeof SendArguments>;

/** Sends a message to another workstream: it asks, unless a person trusts the coordinator with those below it. */
export const sendTool: Tool<SendArguments> = {
  name: 'send_to_workstream',
  kind: 'coordinator',
  description:
    'Sends a message to a workstream, usually one that you made. The person is asked first, unless they trust you with your own workstreams. The answer stays there: use wait_for_workstream.',
  parameters: SendArguments,
  readOnly: false,
  safeToRepeat: true, // a repeat finds the message that the call had sent
  prepare,
};

async function prepare({ ws_id: wsId, message }: SendArguments, context: ToolContext): Promise<Prepared> {
  const { coordination, callId } = context;
  if (!coordination) return { kind: 'refused', subject: wsId, reason: NOT_HERE };
  const target = await findTarget(coordination, wsId);
  if ('problem' in target) return { kind: 'refused', subject: wsId, reason: target.problem };
  const text = message.trim();
  if (text === '') return { kind: 'refused', subject: target.name, reason: 'The message is empty.' };
  return coordinatorCall(context, {
    name: 'send_to_workstream',
    subject: target.isBelow ? target.name : `${target.name} (not one of its own)`,
    preview: text,
    needsApproval: !target.isTrusted,
    stored: 'changed',
    async execute(now) {
      const found = await now.find(wsId);
      // It ran unasked only because of a trust that has ended since.
      if (target.isTrusted && !found.isTrusted) throw new GatewayError('FORBIDDEN', NO_LONGER);
      const { isQueued } = await now.send(callId, found, text);
      return asData({ ws_id: wsId, status: isQueued ? 'queued' : 'sent' });
    },
  });
}

const NO_LONGER = 'Messages to this workstream need approval again. Nothing was sent; repeat the call to ask.';

async function findTarget(coordination: Coordination, wsId: string): Promise<Target | { problem: string }> {
  try {
    return await coordination.find(wsId);
  } catch (error) {
    if (error instanceof GatewayError) return { problem: error.message };
    throw error;
  }
}
