import type { ListSessionsRequest, ListSessionsResponse } from '@agentclientprotocol/sdk';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { trimEndOf } from '../../../protocol/text/trimmed-text.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { wrongParams } from './told-errors.ts';

/** Sessions of one answer. */
const PAGE = 50;

/** The stored workstreams, the latest first, as sessions that an editor can load. */
export async function listSessions(
  { cwd, cursor }: Pick<ListSessionsRequest, 'cwd' | 'cursor'>,
  client: Pick<GatewayClient, 'call'>,
): Promise<ListSessionsResponse> {
  const { workstreams } = await client.call('workstream.saved', {
    limit: PAGE,
    ...(cwd != null && { workdir: withoutSlash(cwd) }),
    ...(cursor != null && placeOf(cursor)),
  });
  const last = workstreams.at(-1);
  return {
    sessions: workstreams.flatMap(({ wsId: sessionId, workdir, title, alias, name, updatedMs }) =>
      // An older daemon does not say where a workstream works, and a session without a folder cannot be loaded.
      workdir === undefined
        ? []
        : [
            {
              sessionId,
              cwd: workdir,
              title: toSafeText(alias ?? title ?? name),
              updatedAt: new Date(updatedMs).toISOString(),
            },
          ],
    ),
    ...(last && workstreams.length === PAGE && { nextCursor: `${last.updatedMs}:${last.wsId}` }),
  };
}

const withoutSlash = (folder: string): string => (folder.length > 1 ? trimEndOf(folder, '/') : folder);

/** The last row of the page before. */
function placeOf(cursor: string): { before: number; beforeWsId: string } {
  const [, before = '', beforeWsId = ''] = /^(\d{1,16}):([\w-]{1,128})$/.exec(cursor) ?? [];
  if (beforeWsId === '') throw wrongParams('cursor must be the nextCursor of an earlier answer');
  return { before: Number(before), beforeWsId };
}
