import { useRef } from 'preact/hooks';
import type { App } from '../../state/app.ts';
import { fieldsOf } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

/** The form for users. A wrong password is emptied, so that the next one can be typed at once. */
export function PasswordLogin({ app, problem }: { app: App; problem: string | undefined }) {
  const field = useRef<HTMLInputElement>(null);
  const { busy, onSubmit } = useSubmit(async (form) => {
    const { username = '', password = '' } = fieldsOf(form);
    await app.logIn({ username: username.trim(), password });
    const { current } = field;
    if (!current) return undefined; // logged in
    current.value = '';
    current.focus();
    return undefined; // the app has the problem
  });
  return (
    <form onSubmit={onSubmit}>
      <label for="username">Username</label>
      <input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck={false} required />
      <label for="password">Password</label>
      <input
        ref={field}
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        aria-describedby="login-problem"
        required
      />
      <p class="problem" role="alert" id="login-problem">
        {problem}
      </p>
      <button type="submit" class="primary" disabled={busy.value}>
        Log in
      </button>
    </form>
  );
}
