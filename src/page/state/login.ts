import { isRecord } from '../../../protocol/is-record.ts';
/** The login status of the browser. */
export interface AuthStatus {
  authenticated: boolean;
  authEnabled: boolean;
  scopes: readonly string[];
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
      const auth = isRecord(body) ? body : {};
      return {
        authenticated: auth.authenticated === true,
        authEnabled: auth.auth_enabled !== false,
        scopes: Array.isArray(auth.scopes) ? auth.scopes.map(String) : [],
      };
    },

    async login(credential: Credential): Promise<void> {
      const answer = await post('/v1/api/auth/login', credential);
      if (!answer.ok) throw new LoginError(toRefusal(answer.status, 'code' in credential));
    },

    async logout(): Promise<void> {
      await post('/v1/api/auth/logout', {});
    },
  };

  function post(path: string, body: object): Promise<Response> {
    return fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      credentials: 'same-origin',
      body: JSON.stringify(body),
    });
  }
}

export type Login = ReturnType<typeof createLogin>;
export type Credential = { code: string } | { token: string };

/** The one-time code in a page address, as the login link carries it. */
export function findLoginCode(text: string): string | undefined {
  return /#login=([A-Za-z0-9_-]+)/.exec(text)?.[1];
}

/** Reads the text pasted into the login card: a link, the end of a link, or a token. */
export function toCredential(pasted: string): Credential | undefined {
  const text = pasted.trim();
  if (text === '') return undefined;
  const code = findLoginCode(text.startsWith('login=') ? `#${text}` : text);
  return code === undefined ? { token: text } : { code };
}

function toRefusal(status: number, byLink: boolean): string {
  if (status === 429) return 'Too many attempts. Try again in five minutes. Repeated failures make the wait longer.';
  if (status === 401 && byLink) return 'This link has been used or has expired. Get a new one.';
  if (status === 401) return 'This token is not valid.';
  return `Headgate answered ${status}.`;
}
