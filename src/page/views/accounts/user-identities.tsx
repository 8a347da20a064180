import { useEffect } from 'preact/hooks';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { App, Desk } from '../../state/app.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { type IdentityLink, IdentityLinkFields } from './identity-link.tsx';
import { IdentityList } from './identity-list.tsx';

interface UserIdentitiesProps {
  app: App;
  desk: Desk;
  user: User;
  link: IdentityLink;
}

/** Who at a provider logs in as the user, and the fields to link somebody else there. */
export function UserIdentities({ app, desk, user: { userId, username, hasPassword }, link }: UserIdentitiesProps) {
  const board = accountsOf(desk).identities;
  useEffect(() => void board.read(userId), [board, userId]);
  const identities = board.identities.value;
  const whose =
    app.who.value?.userId === userId ? 'your logins end at once, this one too' : 'logins of this user end at once';
  const isLast = identities.length === 1 && !hasPassword;
  const loss = `from the user ${username}? All ${whose}.${isLast ? ` Without a password, ${username} then has no way to log in.` : ''}`;
  return (
    <>
      {identities.length > 0 && (
        <fieldset class="boxes">
          <legend>Logs in through a provider as</legend>
          <IdentityList app={app} identities={identities} loss={loss} unlink={(identity) => board.unlink(identity)} />
        </fieldset>
      )}
      <ReadingNotice of={[board.reading]} />
      {app.auth.value.authEnabled && <IdentityLinkFields app={app} link={link} />}
    </>
  );
}
