import { userOfActor } from '../../../../protocol/actors/user-of-actor.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';

const MOST_AT_ONCE = 500;

/**
 * Finds the usernames of actors, which are user ids or principals such as `user:…`. Where no name is found, the id stays: for
 * deleted users, for actors that are no users, and for all of them if the names cannot be read.
 */
export async function readUserNames(
  client: Pick<GatewayClient, 'call'>,
  actors: readonly (string | undefined)[],
): Promise<(actor: string) => string> {
  const userIds = [...new Set(actors.flatMap((actor = '') => userOfActor(actor) ?? []))];
  const names = new Map<string, string>();
  for (let from = 0; from < userIds.length; from += MOST_AT_ONCE) {
    const asked = { userIds: userIds.slice(from, from + MOST_AT_ONCE) };
    const { users } = await client.call('user.names', asked).catch(() => ({ users: [] }));
    for (const { userId, username } of users) names.set(userId, username);
  }
  return (actor) => names.get(userOfActor(actor) ?? '') ?? actor;
}
