import { GatewayError } from '../../../protocol/errors.ts';
import type { authContracts } from '../../../protocol/methods/auth.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { OPERATOR_ID } from '../auth/create-authenticator.ts';
import type { LoginCodes } from '../auth/login-codes.ts';
import type { LoginSessions } from '../auth/login-sessions.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import type { Handlers } from '../call.ts';

export interface AuthMethodDeps {
  authenticator: Authenticator;
  sessions: Pick<LoginSessions, 'start' | 'revoke'>;
  codes: LoginCodes;
  throttle: LoginThrottle;
  /** Where a browser reaches the daemon, without a slash at the end; known once it listens. */
  baseUrl(): string;
}

interface Grant {
  userId: string;
  scopes: string[];
  untilMs?: number | undefined;
}

export function authMethods(deps: AuthMethodDeps): Handlers<keyof typeof authContracts> {
  const { authenticator, sessions, codes, throttle } = deps;
  return {
    'auth.login': async ({ code, token }, { address }) => {
      if (!authenticator.enabled) throw new GatewayError('INVALID_REQUEST', 'Auth is not enabled');
      const attempt = throttle.begin(code === undefined ? 'token' : 'code', address);
      if (attempt.kind === 'locked') {
        throw new GatewayError('RATE_LIMITED', 'Too many login attempts', { retryAfterMs: attempt.retryAfterMs });
      }
      const grant = await (code === undefined ? grantOfToken(token, authenticator) : grantOfCode(code, codes));
      if (grant === undefined) throw new GatewayError('UNAUTHORIZED', 'Invalid credentials');
      attempt.succeeded();
      const { userId, scopes, untilMs } = grant;
      const { jwt, expiresAtMs } = await sessions.start(userId, scopes, untilMs);
      const role = scopes.includes('write') ? 'full' : 'read';
      return { status: 'ok', role, scopes, jwt, userId, expiresAtMs };
    },
    'auth.logout': async (_params, { principal }) => {
      if (principal?.source.kind === 'login') await sessions.revoke(principal.source.jti);
      return { status: 'ok' };
    },
    'auth.status': (_params, { principal }) => {
      const { enabled } = authenticator;
      if (!enabled || principal === undefined) {
        return { authenticated: false, authEnabled: enabled, userId: null, scopes: [], source: null };
      }
      const { id, scopes, source } = principal;
      return { authenticated: true, authEnabled: true, userId: id, scopes: [...scopes], source: source.kind };
    },
    'auth.link': () => loginLink(deps),
  };
}

/** A one-time link for a browser; the code stands in the fragment, so that it reaches no log and no Referer header. */
export async function loginLink({
  authenticator,
  codes,
  baseUrl,
}: Pick<AuthMethodDeps, 'authenticator' | 'codes' | 'baseUrl'>): Promise<{ url: string; expiresAtMs: number }> {
  const { code, expiresAtMs } = await codes.issue(OPERATOR_ID);
  return { url: authenticator.enabled ? `${baseUrl()}/#login=${code}` : `${baseUrl()}/`, expiresAtMs };
}

/** A link gives what the operator may do; roles decide once there are users. */
async function grantOfCode(code: string, codes: LoginCodes): Promise<Grant | undefined> {
  const userId = await codes.redeem(code);
  return userId === undefined ? undefined : { userId, scopes: ['read', 'write', 'approve'] };
}

/** Only a token itself logs in, with its own rights and for no longer than it lasts: a session cannot prolong itself. */
async function grantOfToken(token: string | undefined, authenticator: Authenticator): Promise<Grant | undefined> {
  const principal = await authenticator.authenticate(token);
  if (principal === undefined) return undefined;
  const { id: userId, source } = principal;
  const scopes = [...principal.scopes];
  if (source.kind === 'operator') return { userId, scopes };
  return source.kind === 'token' ? { userId, scopes, untilMs: source.expiresAtMs } : undefined;
}
