import { useEffect } from 'preact/hooks';
import type { DecidedBy } from '../../../../protocol/stream-events.ts';
import { OPERATOR } from '../../state/accounts/owners.ts';
import type { App, Desk } from '../../state/app.ts';

interface DeciderProps {
  app: App;
  desk: Desk;
  by: DecidedBy;
}

/** Who decided, if it was somebody else: a user, or the operator. */
export function Decider({ app, desk, by }: DeciderProps) {
  const { owners } = desk;
  const userId = by.kind === 'principal' ? toUserId(by.id) : undefined;
  useEffect(() => {
    if (userId !== undefined) void owners.read([{ userId }]);
  }, [owners, userId]);
  const name = userId === undefined ? undefined : owners.otherThan(app.who.value, { userId });
  return name === undefined ? null : <bdi>{` · ${name}`}</bdi>;
}

/** Undefined for programs, which act under a token. */
const toUserId = (principal: string): string | undefined =>
  principal === 'operator' ? OPERATOR.userId : /^user:(.*)$/.exec(principal)?.[1];
