import { useEffect } from 'preact/hooks';
import { userOfActor } from '../../../../protocol/actors/user-of-actor.ts';
import { OPERATOR } from '../../state/accounts/owners.ts';
import type { App, Desk } from '../../state/app.ts';

/**
 * Who did something, in words: `you`, the name of a user, or what acted where no user did. The names of these actors are read
 * when they are first shown; until then, and for those that nobody is told, their ids stay.
 */
export function useActors({ who }: Pick<App, 'who'>, { owners }: Desk, actors: readonly string[]) {
  const userIds = actors.flatMap((actor) => userOfActor(actor) ?? []);
  useEffect(() => void owners.read(userIds.map((userId) => ({ userId }))), [owners, userIds.join()]);
  return (actor: string): string => {
    const words = owners.actorWords(who.value, userOfActor(actor) ?? actor);
    return words === 'operator' ? OPERATOR.displayName : words;
  };
}
