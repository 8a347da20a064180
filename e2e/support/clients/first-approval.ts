import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';

/** The approval that a workstream waits for, or the next one. It listens; a client that asks again and again is refused. */
export async function firstApproval(client: GatewayClient, wsId: string): Promise<Approval> {
  const next = Promise.withResolvers<Approval>();
  const stop = client.on('approval.requested', (approval) => {
    if (approval.wsId === wsId) next.resolve(approval);
  });
  try {
    const { approvals } = await client.call('approval.list', { wsId });
    return approvals[0] ?? (await next.promise);
  } finally {
    stop();
  }
}
