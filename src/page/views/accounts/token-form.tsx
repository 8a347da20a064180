import type { TokenScope } from '../../../../protocol/methods/accounts/token.ts';
import type { OwnTokens } from '../../state/accounts/own-tokens.ts';
import { isUser } from '../../state/accounts/who.ts';
import type { App } from '../../state/app.ts';
import { fieldsOf } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';

const DAY_MS = 86_400_000;
const SCOPES: Record<TokenScope, string> = {
  read: 'read: only look',
  write: 'write: send messages, too',
  approve: 'approve: everything that you may do',
  service: 'service: for another machine, for an hour at a time',
};
const EXPIRIES = [
  { days: '', words: 'never' },
  { days: '7', words: 'after 7 days' },
  { days: '30', words: 'after 30 days' },
  { days: '90', words: 'after 90 days' },
  { days: '365', words: 'after a year' },
] as const;

const isScope = (text: string | undefined): text is TokenScope => text !== undefined && Object.hasOwn(SCOPES, text);

/** Creates an API token with a name, a scope and an expiry. */
export function TokenForm({ app, own }: { app: App; own: OwnTokens }) {
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const { name = '', scope, days = '' } = fieldsOf(form);
    if (!isScope(scope)) return 'Choose a scope.';
    const expiry = days !== '' && scope !== 'service' && { expiresInMs: Number(days) * DAY_MS };
    const refused = await own.create({ name: name.trim(), scope, ...expiry });
    if (refused === undefined) form.reset();
    return refused;
  });
  const scopes = Object.keys(SCOPES)
    .filter(isScope)
    .filter((scope) => (scope === 'service' ? !isUser(app.who.value) : app.auth.value.scopes.includes(scope)));
  return (
    <form class="account-form" aria-label="Create an API token" onSubmit={onSubmit}>
      <label>
        Name
        <input name="name" maxLength={64} autocomplete="off" required placeholder="what it is for" />
      </label>
      <label>
        Scope
        <select name="scope">
          {scopes.map((scope) => (
            <option key={scope} value={scope}>
              {SCOPES[scope]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Expires
        <select name="days">
          {EXPIRIES.map(({ days, words }) => (
            <option key={days} value={days} selected={days === '90'}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      <button type="submit" disabled={busy.value}>
        Create token
      </button>
    </form>
  );
}
