import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { isRecord } from '../../../../protocol/is-record.ts';
import type { Visibility } from '../../../../protocol/methods/conversation/sharing.ts';
import { isUser, type Who } from './who.ts';

/** Who sees what the person creates without choosing. The setting is about users; what the operator creates is shared. */
export async function findUsualVisibility(
  client: Pick<GatewayClient, 'call'>,
  who: Who | undefined,
): Promise<Visibility> {
  if (!isUser(who)) return 'shared';
  const { config } = await client.call('config.get', {});
  const workstreams = isRecord(config) ? config.workstreams : undefined;
  return isRecord(workstreams) && workstreams.visibility === 'private' ? 'private' : 'shared';
}
