import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { Who } from '../../state/accounts/who.ts';
import type { App, Desk } from '../../state/app.ts';
import { IdentityList } from './identity-list.tsx';
import { PasswordChangeForm } from './password-change-form.tsx';

interface OwnLoginsProps {
  app: App;
  desk: Desk;
  who: Who;
}

/** How the person logs in: a password, if there is one that can be used, and the identities at a provider. */
export function OwnLogins({ app, desk, who: { username = '', hasPassword = true, identities = [] } }: OwnLoginsProps) {
  const { passwordEnabled, provider } = app.auth.value;
  const name = provider ? toVisibleLine(provider.name) : 'a provider';
  const unlink = app.may('admin.users')
    ? accountsOf(desk).identities.unlink.bind(accountsOf(desk).identities)
    : undefined;
  const isLast = identities.length === 1 && !(hasPassword && passwordEnabled);
  const loss = 'from your user? All your logins end at once, this one too.';
  return (
    <>
      {hasPassword && passwordEnabled && <PasswordChangeForm app={app} username={username} />}
      {(!hasPassword || identities.length > 0) && (
        <section class="panel-row account-part" aria-labelledby="identities-title">
          <h2 id="identities-title">Login through {name}</h2>
          <p class="soft">
            {!hasPassword && 'You have no password here. '}
            {identities.length === 0 ? NO_WAY : 'You log in there as:'}
          </p>
          {identities.length > 0 && (
            <IdentityList
              app={app}
              identities={identities}
              loss={isLast ? `${loss} You have no other way to log in.` : loss}
              unlink={unlink}
            />
          )}
        </section>
      )}
    </>
  );
}

const NO_WAY =
  'Nobody at a provider logs in as you either: ask an administrator for a password, or you cannot log in again.';
