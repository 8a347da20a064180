import type { OidcIdentity } from '../../../../protocol/methods/accounts/oidc-identity.ts';
import type { App } from '../../state/app.ts';
import { toMoment } from '../../state/text/moment.ts';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { RemovableRow } from '../rows/removable-row.tsx';

interface IdentityListProps {
  app: App;
  identities: readonly OidcIdentity[];
  /** What unlinking one loses, after its name. */
  loss: string;
  /** Returns an error message, or undefined on success. Undefined: the person may not unlink any. */
  unlink: ((identity: OidcIdentity) => Promise<string | undefined>) | undefined;
}

/** The people of a provider who log in as a user, as the provider names them. */
export const IdentityList = ({ identities, ...others }: IdentityListProps) => (
  <ul class="token-list" aria-label="Identities at a provider">
    {identities.map((identity) => (
      <IdentityRow key={`${identity.issuer} ${identity.subject}`} identity={identity} {...others} />
    ))}
  </ul>
);

interface IdentityRowProps extends Omit<IdentityListProps, 'identities'> {
  identity: OidcIdentity;
}

function IdentityRow({ app, identity, loss, unlink }: IdentityRowProps) {
  const { issuer, subject, lastLoginAtMs } = identity;
  const used = lastLoginAtMs === null ? 'never logged in' : `last login ${toMoment(lastLoginAtMs, app.now())}`;
  const removal = unlink && {
    verb: 'Unlink',
    icon: 'cross' as const,
    name: subject,
    loss,
    remove: () => unlink(identity),
  };
  return (
    <RemovableRow removal={removal}>
      {(removeButton) => (
        <div class="token-row">
          <span>
            <b>
              <ClaimedText text={subject} />
            </b>
            <span class="account-facts">
              <ClaimedText text={issuer} /> · {used}
            </span>
          </span>
          {removeButton}
        </div>
      )}
    </RemovableRow>
  );
}
