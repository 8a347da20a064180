import { GatewayError } from '../../../protocol/errors.ts';
import type { Params } from '../../../protocol/index.ts';
import type { authContracts } from '../../../protocol/methods/auth.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { type Minter, minterOf } from '../auth/lineage.ts';
import type { LoginCodes } from '../auth/login-codes.ts';
import type { LoginSessions } from '../auth/login-sessions.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import type { Handlers } from '../call.ts';

export interface AuthMethodDeps {
  authenticator: Authenticator;
  sessions: Pick<LoginSessions, 'start' | 'revoke'>;
  codes: LoginCodes;
  throttle: LoginThrottle;
  /** The base URL for browsers, without a trailing slash; known once the daemon listens. */
  baseUrl(): string;
}

export function authMethods(deps: AuthMethodDeps): Handlers<keyof typeof authContracts> {
  const { authenticator, sessions } = deps;
  return {
    'auth.login': async (given, { address }) => {
      if (!authenticator.enabled) throw new GatewayError('INVALID_REQUEST', 'Auth is not enabled');
      const minter = await identify(given, address, deps);
      const { jwt, expiresAtMs, principal } = await sessions.start(minter);
      const scopes = [...principal.scopes];
      const role = scopes.includes('write') ? 'full' : 'read';
      return { status: 'ok', role, scopes, jwt, userId: principal.id, expiresAtMs };
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
    'auth.link': (_params, { principal }) => {
      const minter = principal && minterOf(principal);
      if (minter === undefined) throw new GatewayError('FORBIDDEN', 'This credential cannot create login links');
      return loginLink(deps, minter);
    },
  };
}

/**
 * Finds whom a code or token logs in. A valid code works even while its address is locked, because 128 bits cannot be
 * guessed.
 */
async function identify(
  { code, token }: Params<'auth.login'>,
  address: string,
  { authenticator, codes, throttle }: AuthMethodDeps,
): Promise<Minter> {
  const attempt = throttle.begin(code === undefined ? 'token' : 'code', address);
  if (attempt.kind === 'locked') {
    const minter = code === undefined ? undefined : await codes.redeem(code);
    if (minter !== undefined) return minter;
    throw new GatewayError('RATE_LIMITED', 'Too many login attempts', { retryAfterMs: attempt.retryAfterMs });
  }
  const minter = await (code === undefined ? minterOfToken(token, authenticator) : codes.redeem(code));
  if (minter === undefined) throw new GatewayError('UNAUTHORIZED', 'Invalid credentials');
  attempt.succeeded();
  return minter;
}

/** Creates a one-time login link. The code is in the fragment, so it reaches no log and no Referer header. */
export async function loginLink(
  { authenticator, codes, baseUrl }: Pick<AuthMethodDeps, 'authenticator' | 'codes' | 'baseUrl'>,
  minter: Minter,
): Promise<{ url: string; expiresAtMs: number }> {
  const { code, expiresAtMs } = await codes.issue(minter);
  return { url: authenticator.enabled ? `${baseUrl()}/#login=${code}` : `${baseUrl()}/`, expiresAtMs };
}

/** Only a token can log in, so a session cannot extend itself. */
async function minterOfToken(token: string | undefined, authenticator: Authenticator): Promise<Minter | undefined> {
  const principal = await authenticator.authenticate(token);
  const isToken = principal?.source.kind === 'operator' || principal?.source.kind === 'token';
  return isToken ? minterOf(principal) : undefined;
}
