import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';

const MOST_AT_ONCE = 500;

/**
 * Finds the usernames of actors, which are user ids or principals such as `user:…`. What is no user, a deleted user, and
 * everybody if the names cannot be read stay as they are.
 */
export async function readUserNames(
  client: Pick<GatewayClient, 'call'>,
  actors: readonly (string | undefined)[],
): Promise<(actor: string) => string> {
  const userIds = [...new Set(actors.flatMap((actor = '') => toUserId(actor) ?? []))];
  const names = new Map<string, string>();
  for (let from = 0; from < userIds.length; from += MOST_AT_ONCE) {
    const asked = { userIds: userIds.slice(from, from + MOST_AT_ONCE) };
    const { users } = await client.call('user.names', asked).catch(() => ({ users: [] }));
    for (const { userId, username } of users) names.set(userId, username);
  }
  return (actor) => names.get(toUserId(actor) ?? '') ?? actor;
}

const toUserId = (actor: string): string | undefined => /^(?:user:)?(user_[\w-]{1,59})$/.exec(actor)?.[1];
