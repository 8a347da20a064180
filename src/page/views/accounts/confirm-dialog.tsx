import type { StepUpDetails } from '../../../../protocol/methods/accounts/step-up.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { type AuthStatus, toCredential } from '../../state/login.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf } from '../form-fields.ts';
import { LinkCommand } from '../login/link-command.tsx';
import { useSubmit } from '../use-submit.ts';

interface ConfirmDialogProps {
  app: App;
  desk: Desk;
  by: StepUpDetails['by'];
}

/** Asks who sits in front of the page before something is changed that gives rights. Then the change is made. */
export function ConfirmDialog({ app, desk, by }: ConfirmDialogProps) {
  const { confirmation } = desk;
  const close = () => confirmation.cancel();
  const { hasPassword = true } = app.who.value ?? {};
  if (by === 'password' && !hasPassword)
    return (
      <Dialog title={TITLE} onClose={close}>
        <ThroughProvider provider={app.auth.value.provider} />
      </Dialog>
    );
  return (
    <Dialog title={TITLE} onClose={close}>
      <ProofForm app={app} desk={desk} by={by} />
    </Dialog>
  );
}

const TITLE = 'Confirm that it is you';
const REASON =
  'This changes what people or the agent may do, which needs a recent login. Yours is more than five minutes old.';

function ProofForm({ app, desk, by }: ConfirmDialogProps) {
  const { confirmation } = desk;
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const { proof = '' } = fieldsOf(form);
    const given = by === 'password' ? { password: proof } : toCredential(proof);
    if (given === undefined || 'username' in given) return 'Paste a link or a token.';
    const refused = await confirmation.confirm(given);
    const field = form.elements.namedItem('proof');
    if (refused !== undefined && field instanceof HTMLInputElement) {
      field.value = '';
      field.focus();
    }
    return refused;
  });
  return (
    <form class="account-dialog" onSubmit={onSubmit}>
      {by === 'password' ? <PasswordField username={app.who.value?.username ?? ''} /> : <LinkField />}
      <p class="problem" role="alert" id="confirm-problem">
        {problem.value}
      </p>
      <footer>
        <button type="button" onClick={() => confirmation.cancel()}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={busy.value}>
          Confirm
        </button>
      </footer>
    </form>
  );
}

/** For users without a password: only a new login proves who they are, and it loads the page again. */
const ThroughProvider = ({ provider }: Pick<AuthStatus, 'provider'>) => (
  <div class="confirm-through">
    <p>
      {REASON}{' '}
      {provider
        ? 'Log in again; this page then loads anew, and you make the change there.'
        : 'Log out, and log in again.'}
    </p>
    {provider && (
      <a class="button primary" href={`${provider.url}?prompt=login`}>
        Log in with {toVisibleLine(provider.name)}
      </a>
    )}
  </div>
);

const PasswordField = ({ username }: { username: string }) => (
  <>
    <p>{REASON} Enter your password again.</p>
    {/* Tells password managers whose password it is. */}
    <input name="username" autocomplete="username" value={username} readOnly hidden />
    <label>
      Password
      <input
        name="proof"
        type="password"
        autocomplete="current-password"
        aria-describedby="confirm-problem"
        required
        autofocus
      />
    </label>
  </>
);

const LinkField = () => (
  <>
    <p>{REASON} Create a new login link on the machine where Headgate runs, and paste it here instead of opening it:</p>
    <LinkCommand />
    <label>
      Login link, or the token that you logged in with
      <input
        name="proof"
        type="password"
        autocomplete="off"
        spellcheck={false}
        placeholder="http://…/#login=…"
        aria-describedby="confirm-problem"
        required
        autofocus
      />
    </label>
  </>
);
