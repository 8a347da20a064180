import { useSignal } from '@preact/signals';
import type { User } from '../../../../protocol/methods/accounts/user.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { App, Desk } from '../../state/app.ts';
import { fieldsOf } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

/** The id of the form that links an identity. Its fields are inside the form of the user, and forms cannot be nested. */
const FORM = 'link-identity';

/** Linking another identity of a provider to the user. */
export type IdentityLink = ReturnType<typeof useIdentityLink>;

export function useIdentityLink(desk: Desk, user: User | undefined) {
  const linked = useSignal('');
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    linked.value = '';
    if (user === undefined) return undefined;
    const { issuer = '', subject = '' } = fieldsOf(form);
    const refused = await accountsOf(desk).identities.link({ userId: user.userId, issuer, subject });
    if (refused !== undefined) return refused;
    form.reset();
    linked.value = `${subject.trim()} now logs in as ${user.username}.`;
    return undefined;
  });
  return { busy, problem, linked, onSubmit };
}

/** The form itself; show it outside any other form. */
export const IdentityLinkForm = ({ link }: { link: IdentityLink }) => (
  <form id={FORM} class="elsewhere" onSubmit={link.onSubmit} />
);

/** Its fields. */
export function IdentityLinkFields({ app, link }: { app: App; link: IdentityLink }) {
  const { provider } = app.auth.value;
  return (
    <details class="boxes link-identity">
      <summary>Link an identity of a provider</summary>
      <p class="soft">
        Whoever logs in at the provider with this subject is then this user. Issuer and subject are the claims{' '}
        <code>iss</code> and <code>sub</code> of its ID tokens.
        {provider === undefined && ' No provider is set in config.json yet (oidc).'}
      </p>
      <label>
        Issuer
        <input
          form={FORM}
          name="issuer"
          type="url"
          maxLength={2048}
          autocomplete="off"
          required={provider === undefined}
          aria-describedby="link-problem"
          placeholder={provider ? `if empty: ${provider.name}` : 'https://sso.example.com'}
        />
      </label>
      <label>
        Subject
        <input
          form={FORM}
          name="subject"
          maxLength={255}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required
          aria-describedby="link-problem"
        />
      </label>
      <p class="problem" role="alert" id="link-problem">
        {link.problem.value}
      </p>
      <p class="linked" role="status">
        {link.linked.value}
      </p>
      <button type="submit" form={FORM} disabled={link.busy.value}>
        Link
      </button>
    </details>
  );
}
