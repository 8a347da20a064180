import { GatewayError } from '../../../../protocol/errors.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { authContracts } from '../../../../protocol/methods/accounts/auth.ts';
import type { Clock } from '../../../clock.ts';
import type { Authenticator } from '../../auth/authenticator.ts';
import { type Minter, minterOf } from '../../auth/lineage.ts';
import { confirmMethods } from '../../auth/logins/confirm.ts';
import { identify, minterOfUser, requirePassword } from '../../auth/logins/identify.ts';
import type { LoginCodes } from '../../auth/logins/login-codes.ts';
import type { LoginSession, LoginSessions } from '../../auth/logins/login-sessions.ts';
import type { LoginThrottle } from '../../auth/logins/login-throttle.ts';
import type { OidcLogin } from '../../auth/oidc/oidc-login.ts';
import { authorizeUrlOf } from '../../auth/oidc/oidc-settings.ts';
import type { Principal } from '../../auth/principal.ts';
import { requireStanding } from '../../auth/require-authentication.ts';
import type { SetupGate } from '../../auth/setup-gate.ts';
import type { Call, Handlers } from '../../call.ts';
import { effectiveOf } from '../../users/grant.ts';
import type { Passwords } from '../../users/passwords.ts';
import { checkDisplayName, checkPassword, checkUsername } from '../../users/user-input.ts';
import type { Users } from '../../users/users.ts';

export interface AuthMethodDeps {
  authenticator: Authenticator;
  sessions: Pick<LoginSessions, 'start' | 'revoke' | 'confirm'>;
  codes: LoginCodes;
  throttle: LoginThrottle;
  users: Users;
  passwords: Passwords;
  setup: SetupGate;
  clock: Pick<Clock, 'now'>;
  oidc: Pick<OidcLogin, 'settings' | 'identities'>;
  /** The base URL for browsers, without a trailing slash; known once the daemon listens. */
  baseUrl(): string;
}

type LoginResult = Result<'auth.login'>;
/** The session that a new one takes over from, without another proof. */
type Refreshed = Pick<Extract<Principal['source'], { kind: 'login' }>, 'jti' | 'browser'>;

export const authMethods = (deps: AuthMethodDeps): Handlers<keyof typeof authContracts> => ({
  ...loginMethods(deps),
  ...passwordMethods(deps),
  ...confirmMethods(deps),
  ...knownMethods(deps),
});

/** Starting, refreshing and ending sessions. */
function loginMethods(deps: AuthMethodDeps) {
  const { authenticator, sessions, users, setup } = deps;
  /** The session is recorded together with its start. */
  const logIn = async (minter: Minter, call: Call, refreshed?: Refreshed): Promise<LoginResult> => {
    const { parent } = minter;
    const isUser = parent.kind === 'user';
    const recorded = call.audited({ id: isUser ? parent.id : parent.kind });
    const also = isUser ? [...recorded, users.noteLogin(parent.id)] : recorded;
    const follows = refreshed ? { jti: refreshed.jti, isRefresh: true } : browserSessionOf(call);
    return toLogin(await sessions.start(minter, { follows, browser: refreshed?.browser ?? false, also }), users);
  };
  return {
    'auth.login': async (given, call) => {
      requireEnabled(authenticator);
      const minter = await identify(given, call.address, deps);
      requireRights(minter, deps);
      return logIn(minter, call);
    },
    'auth.refresh': async (_params, call) => {
      const { source } = requireUserSession(call.principal, 'Only the login of a user can be refreshed. Log in again.');
      const minter = minterOfUser(source.parent.id, source.version);
      requireRights(minter, deps);
      return logIn(minter, call, source);
    },
    'auth.logout': async (_params, { principal, audited }) => {
      if (principal?.source.kind === 'login') await sessions.revoke(principal.source.jti, audited());
      return { status: 'ok' };
    },
    'auth.link': async (_params, { principal, audited }) => {
      const minter = principal && minterOf(principal);
      if (minter === undefined) throw new GatewayError('FORBIDDEN', 'This credential cannot create login links');
      const link = await loginLink(deps, minter, audited());
      const isNeeded = isSetupOpen(deps) && setup.needsCode() && minter.parent.kind === 'operator';
      return isNeeded ? { ...link, setupCode: setup.code } : link;
    },
  } satisfies Partial<Handlers>;
}

/** The first user, and new passwords. */
function passwordMethods(deps: AuthMethodDeps) {
  const { authenticator, sessions, users, passwords, setup } = deps;
  return {
    'auth.setup': async ({ username, displayName, password, setupCode }, call) => {
      requireEnabled(authenticator);
      if (!isSetupOpen(deps)) throw new GatewayError('CONFLICT', 'Setup already completed');
      if (!setup.admits(setupCode)) {
        throw new GatewayError('FORBIDDEN', 'setup_code: required; "headgate link" and the log show it');
      }
      const person = { username: checkUsername(username), displayName: checkDisplayName(displayName) };
      const passwordHash = await passwords.hash(checkPassword(password));
      const first = { ...person, passwordHash, roleIds: ['builtin-admin'], by: 'setup' };
      const { userId } = await users.setUp(first, (id) => call.audited({ id, username }));
      const also = [users.noteLogin(userId)];
      return {
        ...toLogin(await sessions.start(minterOfUser(userId, users.versionOf(userId)), { also }), users),
        username,
      };
    },
    'auth.password': async ({ current, new: wanted }, call) => {
      const { userId } = requireUserSession(call.principal, 'Only the login of a user can change the user’s password.');
      const typed = { userId, password: current, address: call.address, refusal: 'The current password is wrong' };
      const version = await requirePassword(typed, deps);
      const passwordHash = await passwords.hash(checkPassword(wanted));
      requireStanding(call.principal);
      const changed = await users.setOwnPassword(userId, { passwordHash, version }, call.audited({ id: userId }));
      // After the answer, because the caller's connection belongs to one of the logins that end.
      const endOthers = (keep?: string) => void setImmediate(() => users.endLogins(userId, keep));
      try {
        const session = await sessions.start(minterOfUser(userId, changed));
        if (session.principal.source.kind === 'login') endOthers(session.principal.source.jti);
        return toLogin(session, users);
      } catch (error) {
        endOthers(); // the new password holds, although nobody is logged in with it
        throw error;
      }
    },
  } satisfies Partial<Handlers>;
}

/** Who the caller is. */
function knownMethods(deps: AuthMethodDeps) {
  const { authenticator, users, setup, oidc, clock } = deps;
  const { settings } = oidc;
  return {
    'auth.whoami': async (_params, { principal }) => {
      if (principal === undefined) throw new GatewayError('UNAUTHORIZED', 'Not authenticated');
      const { userId, source } = principal;
      return {
        ...toWho(principal, users),
        ...(userId !== undefined && {
          displayName: users.get(userId).displayName,
          hasPassword: users.get(userId).hasPassword,
          identities: await oidc.identities.list(userId),
        }),
        ...(source.kind === 'login' && { expiresAtMs: source.expiresAtMs, expiresInMs: leftOf(source, clock) }),
      };
    },
    'auth.status': (_params, { principal }) => {
      const { enabled } = authenticator;
      const isOpen = isSetupOpen(deps);
      const about = {
        authEnabled: enabled,
        hasUsers: users.count > 0,
        setupRequired: isOpen,
        setupCodeNeeded: isOpen && setup.needsCode(),
        passwordEnabled: settings?.passwordEnabled ?? true,
        oidc: settings && enabled ? { name: settings.providerName, url: authorizeUrlOf(settings) } : null,
      };
      if (!enabled || principal === undefined) {
        return { authenticated: false, ...about, userId: null, scopes: [], source: null };
      }
      const { id, userId = id, scopes, source } = principal;
      return { authenticated: true, ...about, userId, scopes: [...scopes], source: source.kind };
    },
  } satisfies Partial<Handlers>;
}

const leftOf = ({ expiresAtMs }: { expiresAtMs: number }, clock: Pick<Clock, 'now'>): number =>
  Math.max(0, expiresAtMs - clock.now());

const isSetupOpen = ({ authenticator, users }: AuthMethodDeps): boolean => authenticator.enabled && users.count === 0;

const toWho = ({ id, userId, scopes, permissions }: Principal, users: Users) => ({
  userId: userId ?? id,
  scopes: [...scopes],
  permissions: effectiveOf({ scopes, permissions }),
  ...(userId !== undefined && { username: users.get(userId).username }),
});

export const toLogin = ({ jwt, expiresAtMs, principal }: LoginSession, users: Users): LoginResult => ({
  ...toWho(principal, users),
  status: 'ok',
  role: principal.scopes.has('write') ? 'full' : 'read',
  jwt,
  expiresAtMs,
});

export function requireEnabled({ enabled }: Authenticator): void {
  if (!enabled) throw new GatewayError('INVALID_REQUEST', 'Auth is not enabled');
}

/** A user whose roles allow nothing cannot log in. */
function requireRights({ parent }: Minter, { users }: AuthMethodDeps): void {
  if (parent.kind !== 'user' || (users.boundsOf(parent.id)?.scopes.size ?? 0) > 0) return;
  throw new GatewayError('FORBIDDEN', 'User has no active permissions');
}

/** The session of the browser whose cookie a login replaces. */
export function browserSessionOf({ principal }: Pick<Call, 'principal'>): { jti: string } | undefined {
  const source = principal?.source;
  return source?.kind === 'login' && source.browser ? { jti: source.jti } : undefined;
}

function requireUserSession(principal: Principal | undefined, refusal: string) {
  if (principal === undefined) throw new GatewayError('UNAUTHORIZED', 'Not authenticated');
  const { userId, source } = principal;
  if (userId === undefined || source.kind !== 'login' || source.parent.kind !== 'user') {
    throw new GatewayError('FORBIDDEN', refusal);
  }
  requireStanding(principal);
  return { userId, source };
}

/** Creates a one-time login link. The code is in the fragment, so it reaches no log and no Referer header. */
export async function loginLink(
  { authenticator, codes, baseUrl }: Pick<AuthMethodDeps, 'authenticator' | 'codes' | 'baseUrl'>,
  minter: Minter,
  also: Parameters<LoginCodes['issue']>[1] = [],
): Promise<{ url: string; expiresAtMs: number }> {
  const { code, expiresAtMs } = await codes.issue(minter, also);
  return { url: authenticator.enabled ? `${baseUrl()}/#login=${code}` : `${baseUrl()}/`, expiresAtMs };
}
