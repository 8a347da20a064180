import { useSignal } from '@preact/signals';
import type { App } from '../../state/app.ts';
import { toCredential } from '../../state/login.ts';
import { LinkCommand } from './link-command.tsx';

/** How to get a login link, and where to paste it or a token. */
export function LinkLogin({ app, problem }: { app: App; problem: string | undefined }) {
  const pasted = useSignal('');
  const busy = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const credential = toCredential(pasted.peek());
    if (!credential) return;
    busy.value = true;
    await app.logIn(credential);
    busy.value = false;
  };
  return (
    <>
      <p>
        On the machine where Headgate runs, create a login link in a terminal and open it here. The link works once and
        expires after ten minutes.
      </p>
      <LinkCommand />
      <form onSubmit={(event) => void submit(event)}>
        <label for="credential">Or paste the link or a token</label>
        <div class="field-row">
          <input
            id="credential"
            type="password"
            autocomplete="off"
            spellcheck={false}
            placeholder="http://…/#login=…"
            value={pasted.value}
            onInput={({ currentTarget }) => {
              pasted.value = currentTarget.value;
            }}
          />
          <button type="submit" class="primary" disabled={busy.value || pasted.value.trim() === ''}>
            Log in
          </button>
        </div>
        <p class="problem" role="alert">
          {problem}
        </p>
      </form>
    </>
  );
}
