import { useSignal } from '@preact/signals';
import type { OidcIdentity } from '../../../../protocol/methods/accounts/oidc-identity.ts';
import type { App } from '../../state/app.ts';
import { toMoment } from '../../state/text/moment.ts';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { Icon } from '../icons.tsx';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { useFocusAfter } from '../use-focus-after.ts';

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
  const isUnlinking = useSignal(false);
  const element = useFocusAfter(isUnlinking.value ? 'unlinking' : 'shown');
  const { issuer, subject, lastLoginAtMs } = identity;
  const used = lastLoginAtMs === null ? 'never logged in' : `last login ${toMoment(lastLoginAtMs, app.now())}`;
  return (
    <li ref={element}>
      <div class="token-row">
        <span>
          <b>
            <ClaimedText text={subject} />
          </b>
          <span class="account-facts">
            <ClaimedText text={issuer} /> · {used}
          </span>
        </span>
        {unlink && (
          <button
            type="button"
            class="quiet icon-only"
            data-opens="unlinking"
            aria-label={`Unlink ${subject}`}
            title="Unlink"
            onClick={() => {
              isUnlinking.value = true;
            }}
          >
            <Icon name="cross" />
          </button>
        )}
      </div>
      {unlink && isUnlinking.value && (
        <LossQuestion
          verb="Unlink"
          name={subject}
          loss={loss}
          remove={() => unlink(identity)}
          onKeep={() => {
            isUnlinking.value = false;
          }}
        />
      )}
    </li>
  );
}
