import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { App } from '../../state/app.ts';
import { Icon } from '../icons.tsx';
import { LinkLogin } from './link-login.tsx';
import { PasswordLogin } from './password-login.tsx';
import { ProviderLogin } from './provider-login.tsx';
import { SetupForm } from './setup-form.tsx';

interface LoginCardProps {
  app: App;
  problem: string | undefined;
}

/** Shown to a browser without a login: the ways to log in, and the form for the first user. */
export function LoginCard({ app, problem }: LoginCardProps) {
  const isSettingUp = useSignal(false);
  const { hasUsers, setupRequired, passwordEnabled, provider } = app.auth.value;
  const showSetup = (isShown: boolean) => () => {
    isSettingUp.value = isShown;
  };
  if (isSettingUp.value && setupRequired)
    return (
      <Card title="Create the first user">
        <p>This user administers Headgate and can add others. The login link of the operator keeps working.</p>
        <SetupForm app={app} problem={problem} onBack={showSetup(false)} />
      </Card>
    );
  return (
    <Card title="Log in to Headgate">
      {hasUsers && (passwordEnabled || provider) ? (
        <>
          <UserLogin app={app} problem={problem} />
          <details class="other-logins">
            <summary>Log in with a link or a token</summary>
            <LinkLogin app={app} problem={undefined} />
          </details>
        </>
      ) : (
        <LinkLogin app={app} problem={problem} />
      )}
      {setupRequired && (
        <div class="first-user">
          <p>Several people? Give each their own username and password.</p>
          <button type="button" onClick={showSetup(true)}>
            Create the first user
          </button>
        </div>
      )}
    </Card>
  );
}

/** The provider comes first, because its people have no password here. */
function UserLogin({ app, problem }: LoginCardProps) {
  const byPassword = useSignal(false);
  const { passwordEnabled, provider } = app.auth.value;
  if (!provider) return <PasswordLogin app={app} problem={problem} />;
  return (
    <>
      <ProviderLogin provider={provider} problem={byPassword.value ? undefined : problem} />
      {passwordEnabled && (
        <details
          class="other-logins"
          onToggle={({ currentTarget }) => {
            byPassword.value = currentTarget.open;
          }}
        >
          <summary>Log in with a password</summary>
          <PasswordLogin app={app} problem={byPassword.value ? problem : undefined} />
        </details>
      )}
    </>
  );
}

const Card = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <main class="alone">
    <section class="login" aria-labelledby="login-title">
      <span class="mark big">
        <Icon name="gate" />
      </span>
      <h1 id="login-title">{title}</h1>
      {children}
    </section>
  </main>
);
