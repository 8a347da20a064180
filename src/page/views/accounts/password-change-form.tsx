import { useSignal } from '@preact/signals';
import type { App } from '../../state/app.ts';
import { fieldsOf, LEAST_PASSWORD, NOT_THE_SAME } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

/** Changes the person’s own password. All other logins of the person end. */
export function PasswordChangeForm({ app, username }: { app: App; username: string }) {
  const isDone = useSignal(false);
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const { current = '', next = '', again } = fieldsOf(form);
    isDone.value = false;
    if (next !== again) return NOT_THE_SAME;
    const refused = await app.changePassword({ current, next });
    isDone.value = refused === undefined;
    if (isDone.value) form.reset();
    return refused;
  });
  return (
    <section class="panel-row account-part" aria-labelledby="password-title">
      <h2 id="password-title">Change password</h2>
      <form class="account-form" onSubmit={onSubmit}>
        {/* Tells password managers whose password it is. */}
        <input name="username" autocomplete="username" value={username} readOnly hidden />
        <label>
          Current password
          <input name="current" type="password" autocomplete="current-password" required />
        </label>
        <label>
          New password (at least {LEAST_PASSWORD} characters)
          <input name="next" type="password" autocomplete="new-password" minLength={LEAST_PASSWORD} required />
        </label>
        <label>
          The new password again
          <input name="again" type="password" autocomplete="new-password" required />
        </label>
        <p class="problem" role="alert">
          {problem.value}
        </p>
        <p class="soft" role="status">
          {isDone.value && 'The password has been changed. All your other logins have ended.'}
        </p>
        <button type="submit" disabled={busy.value}>
          Change password
        </button>
      </form>
    </section>
  );
}
