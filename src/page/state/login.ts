import { ConnectionLostError, RequestError } from '../../../protocol/client/request-error.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { OidcRefusal } from '../../../protocol/methods/accounts/oidc.ts';
import { toDistance } from './text/moment.ts';

/** The login status of the browser. */
export interface AuthStatus {
  authenticated: boolean;
  authEnabled: boolean;
  scopes: readonly string[];
  /** The user, or the principal where no user is logged in. */
  userId: string | undefined;
  hasUsers: boolean;
  /** Whether the first user can be created now, and whether that needs a code. */
  setupRequired: boolean;
  setupCodeNeeded: boolean;
  passwordEnabled: boolean;
  /** The provider through which people may log in: its name, and the address that begins the login. */
  provider: { name: string; url: string } | undefined;
}

/** The status until it is known. */
export const NOT_LOGGED_IN: AuthStatus = {
  authenticated: false,
  authEnabled: true,
  scopes: [],
  userId: undefined,
  hasUsers: false,
  setupRequired: false,
  setupCodeNeeded: false,
  passwordEnabled: true,
  provider: undefined,
};

export type Credential = { code: string } | { token: string } | { username: string; password: string };

/** What the first user is created from. */
export interface FirstUser {
  username: string;
  displayName: string;
  password: string;
  setupCode: string | undefined;
}

export interface PasswordChange {
  current: string;
  next: string;
}

/** A refused login. The message is shown to the person. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
}

/** The HTTP side of logging in: the cookie it sets is HttpOnly, so the page never holds a credential. */
export function createLogin(fetch: typeof globalThis.fetch) {
  return {
    async status(): Promise<AuthStatus> {
      const answer = await fetch('/v1/api/auth/status');
      if (!answer.ok) throw new LoginError(`Headgate answered ${answer.status}`);
      const body: unknown = await answer.json();
      return toAuthStatus(isRecord(body) ? body : {});
    },

    /**
     * How long the login of a user lasts, in milliseconds by the daemon’s clock; undefined without one. Asked over HTTP,
     * because the cookie may be newer than the connection.
     */
    async leftMs(): Promise<number | undefined> {
      const answer = await fetch('/v1/api/auth/whoami');
      const who: unknown = answer.ok ? await answer.json() : undefined;
      if (!isRecord(who) || typeof who.expires_in !== 'number' || typeof who.username !== 'string') return undefined;
      return who.expires_in * 1_000;
    },

    /** Replaces the login of a user by one that lasts another 24 hours. */
    refresh: () => post('/v1/api/auth/refresh', {}, {}),

    login: (credential: Credential) => post('/v1/api/auth/login', credential, loginRefusals(credential)),

    /** Creates the first user and logs in. */
    setUp: ({ username, displayName, password, setupCode }: FirstUser) =>
      post(
        '/v1/api/auth/setup',
        { username, display_name: displayName, password, ...(setupCode !== undefined && { setup_code: setupCode }) },
        SETUP_REFUSALS,
      ),

    /** Ends all other logins of the user; the cookie of this one is replaced. */
    changePassword: ({ current, next }: PasswordChange) =>
      post('/v1/api/auth/password', { current_password: current, new_password: next }, {}),

    logout: () => post('/v1/api/auth/logout', {}, {}),
  };

  async function post(path: string, body: object, refusals: Refusals): Promise<void> {
    const answer = await send(path, body);
    if (!answer.ok) throw new LoginError(await toRefusal(answer, refusals));
  }

  function send(path: string, body: object): Promise<Response> {
    return fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      credentials: 'same-origin',
      body: JSON.stringify(body),
    });
  }
}

export type Login = ReturnType<typeof createLogin>;

/** The one-time code in a page address, as the login link carries it. */
export function findLoginCode(text: string): string | undefined {
  return /#login=([A-Za-z0-9_-]+)/.exec(text)?.[1];
}

/**
 * The problem of a login through the provider, as the address of the page carries it, in words of ours. Undefined for an
 * address that comes from no such login.
 */
export function findProviderProblem(search: string): string | undefined {
  const query = new URLSearchParams(search);
  const reason = query.get('oidc_error');
  if (reason !== null) return Object.hasOwn(PROVIDER_PROBLEMS, reason) ? PROVIDER_PROBLEMS[reason] : UNKNOWN_PROBLEM;
  return query.has('oidc_success') ? 'The browser did not keep the login cookie.' : undefined;
}

const UNKNOWN_PROBLEM = 'The login through the provider failed. Try again.';
const PROVIDER_PROBLEMS: Readonly<Record<string, string>> = {
  expired: 'This login took too long, was used already, or began in another browser. Try again.',
  denied: 'The provider reports that the login was cancelled.',
  invalid_token: 'The answer of the provider is not valid. The log of the daemon has the reason.',
  provider_refused: 'The provider refused the login. The log of the daemon has the reason.',
  provider_unavailable: 'The provider cannot be reached. Try again later.',
  no_account: 'You have no user here. Ask an administrator to add you.',
  account_disabled: 'Your user is disabled. Ask an administrator.',
  no_role: 'You have no role here, so there is nothing to see. Ask an administrator for a role.',
  busy: 'Too many people log in at once. Try again in a few seconds.',
  rate_limited: 'Too many attempts. Try again in a few minutes.',
} satisfies Record<OidcRefusal, string>;

/** Reads the text pasted into the login card: a link, the end of a link, or a token. */
export function toCredential(pasted: string): Credential | undefined {
  const text = pasted.trim();
  if (text === '') return undefined;
  const code = findLoginCode(text.startsWith('login=') ? `#${text}` : text);
  return code === undefined ? { token: text } : { code };
}

const toAuthStatus = (auth: Record<string, unknown>): AuthStatus => ({
  authenticated: auth.authenticated === true,
  authEnabled: auth.auth_enabled !== false,
  scopes: Array.isArray(auth.scopes) ? auth.scopes.map(String) : [],
  userId: typeof auth.user_id === 'string' ? auth.user_id : undefined,
  hasUsers: auth.has_users === true,
  setupRequired: auth.setup_required === true,
  setupCodeNeeded: auth.setup_code_required === true,
  passwordEnabled: auth.password_enabled !== false,
  provider: toProvider(auth),
});

const toProvider = ({ oidc_enabled, oidc_provider_name: name, oidc_login_url: url }: Record<string, unknown>) =>
  oidc_enabled === true && typeof name === 'string' && typeof url === 'string' && /^https?:\/\//.test(url)
    ? { name, url }
    : undefined;

/** What to show in place of the daemon's message, by status. */
type Refusals = Partial<Record<number, string>>;

function loginRefusals(credential: Credential): Refusals {
  if ('code' in credential) return { 401: 'This link has been used or has expired. Get a new one.' };
  if ('token' in credential) return { 401: 'This token is not valid.' };
  return {
    401: 'The username or the password is wrong.',
    403: 'This user has no role, so there is nothing to see. Ask an administrator for a role.',
  };
}

const SETUP_REFUSALS: Refusals = {
  403: 'The setup code is missing or wrong. Run "headgate link" on the machine of the daemon to see it.',
  409: 'The first user exists already. Log in, or ask an administrator to add you.',
};

async function toRefusal(answer: Response, refusals: Refusals): Promise<string> {
  const { status } = answer;
  if (status === 429) return tooMany(Number(answer.headers.get('Retry-After')));
  return refusals[status] ?? (await messageOf(answer)) ?? `Headgate answered ${status}.`;
}

function tooMany(seconds: number): string {
  const wait = seconds > 0 ? toDistance(seconds * 1_000, 0, 'en') : 'in five minutes';
  return `Too many attempts. Try again ${wait}. Repeated failures make the wait longer.`;
}

/** The daemon's words for a refusal that the person can correct, such as a password that is too short. */
async function messageOf(answer: Response): Promise<string | undefined> {
  if (answer.status < 400 || answer.status >= 500) return undefined;
  const body: unknown = await answer.json().catch(() => undefined); // not JSON: the status is shown
  return isRecord(body) && typeof body.error === 'string' ? body.error : undefined;
}

/** Whether somebody else is logged in now than the last one, if that is known. */
export const isOther = ({ userId }: Pick<AuthStatus, 'userId'>, lastUserId: string | undefined) =>
  lastUserId !== undefined && userId !== lastUserId;

/** The connection ended because the login has ended. */
export const isLoggedOut = (error: Error | undefined) =>
  error instanceof RequestError && (error.code === 'UNAUTHORIZED' || error.code === 'FORBIDDEN');

/** The connection ended because its login was replaced or may do something else now. The next one needs no wait. */
export const isReplaced = (error: Error) =>
  error instanceof ConnectionLostError && (error.closing === 'rights_changed' || error.closing === 'unauthorized');
