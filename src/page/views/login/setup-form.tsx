import { useLayoutEffect, useRef } from 'preact/hooks';
import type { App } from '../../state/app.ts';
import { fieldsOf, LEAST_PASSWORD, NOT_THE_SAME } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

interface SetupFormProps {
  app: App;
  problem: string | undefined;
  onBack(): void;
}

/** The form for the first user. Afterwards the person is logged in. */
export function SetupForm({ app, problem, onBack }: SetupFormProps) {
  const first = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => first.current?.focus(), []);
  const {
    busy,
    problem: own,
    onSubmit,
  } = useSubmit(async (form) => {
    const { username = '', displayName = '', password = '', again, setupCode } = fieldsOf(form);
    if (password !== again) return NOT_THE_SAME;
    const name = username.trim();
    const shown = displayName.trim() === '' ? name : displayName;
    await app.setUp({ username: name, displayName: shown, password, setupCode: setupCode?.trim() });
    return undefined; // the app has the problem
  });
  return (
    <form onSubmit={onSubmit}>
      <label for="username">Username</label>
      <input
        ref={first}
        id="username"
        name="username"
        autocomplete="username"
        autocapitalize="none"
        spellcheck={false}
        maxLength={64}
        required
      />
      <label for="display-name">Name to show</label>
      <input id="display-name" name="displayName" autocomplete="name" maxLength={256} placeholder="as the username" />
      <label for="password">Password (at least {LEAST_PASSWORD} characters)</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="new-password"
        minLength={LEAST_PASSWORD}
        required
      />
      <label for="again">The password again</label>
      <input id="again" name="again" type="password" autocomplete="new-password" required />
      {app.auth.value.setupCodeNeeded && (
        <>
          <label for="setup-code">
            Setup code, from <code>headgate link</code>
          </label>
          <input id="setup-code" name="setupCode" autocomplete="off" spellcheck={false} required />
        </>
      )}
      <p class="problem" role="alert">
        {own.value ?? problem}
      </p>
      <div class="form-buttons">
        <button type="button" onClick={onBack}>
          Back
        </button>
        <button type="submit" class="primary" disabled={busy.value}>
          Create and log in
        </button>
      </div>
    </form>
  );
}
