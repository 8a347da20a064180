import { useEffect } from 'preact/hooks';
import { OPERATOR } from '../../state/accounts/owners.ts';
import type { App, Desk } from '../../state/app.ts';

/**
 * Who did something, in words: `you`, the name of a user, or what acted where no user did. The names of these actors are read
 * when they are first shown; until then, and for those that nobody is told, their ids stay.
 */
export function useActors({ who }: Pick<App, 'who'>, { owners }: Desk, actors: readonly string[]) {
  const userIds = actors.flatMap((actor) => toUserId(actor) ?? []);
  useEffect(() => void owners.read(userIds.map((userId) => ({ userId }))), [owners, userIds.join()]);
  return (actor: string): string => {
    const words = owners.actorWords(who.value, toUserId(actor) ?? actor);
    return words === 'operator' ? OPERATOR.displayName : words;
  };
}

/** An actor is a user id, or a principal such as `user:…`. Undefined for what is no user. */
const toUserId = (actor: string): string | undefined => /^(?:user:)?(user_[\w-]{1,59})$/.exec(actor)?.[1];
