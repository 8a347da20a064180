import { GatewayError } from '../../../../protocol/errors.ts';
import type { Params } from '../../../../protocol/index.ts';
import type { Passwords } from '../../users/passwords.ts';
import { nameKeyOf } from '../../users/user-rows.ts';
import type { Users } from '../../users/users.ts';
import type { Authenticator } from '../authenticator.ts';
import { type Minter, minterOf, OPERATOR } from '../lineage.ts';
import type { OidcLogin } from '../oidc/oidc-login.ts';
import { isService } from '../services/service-tokens.ts';
import type { LoginCodes } from './login-codes.ts';
import type { Attempt, LoginThrottle } from './login-throttle.ts';

/** What proves who somebody is. */
export interface IdentifyDeps {
  authenticator: Pick<Authenticator, 'authenticate'>;
  codes: Pick<LoginCodes, 'redeem'>;
  throttle: LoginThrottle;
  users: Users;
  passwords: Passwords;
  oidc: Pick<OidcLogin, 'settings'>;
}

/** Finds whom a password, code or token logs in. Throws UNAUTHORIZED for a wrong one, and RATE_LIMITED after many. */
export async function identify(
  { username, password, code, token }: Params<'auth.login'>,
  address: string,
  deps: IdentifyDeps,
): Promise<Minter> {
  if (code === undefined && token === undefined && (username !== undefined || password !== undefined)) {
    return identifyUser({ username: username ?? '', password: password ?? '', address }, deps);
  }
  const minter = await redeem({ code, token }, address, deps);
  if (minter === undefined) throw wrongCredentials();
  return minter;
}

/**
 * The parent for a session by a code or token. A valid one works even while its address is locked, because it cannot be
 * guessed. Throws RATE_LIMITED for a wrong one after many.
 */
export async function redeem(
  { code, token }: { code: string | undefined; token: string | undefined },
  address: string,
  { authenticator, codes, throttle }: Pick<IdentifyDeps, 'authenticator' | 'codes' | 'throttle'>,
): Promise<Minter | undefined> {
  const attempt = throttle.begin(code === undefined ? 'token' : 'code', address);
  const looking = code === undefined ? minterOfToken(token, authenticator) : codes.redeem(code);
  const minter = await (attempt.kind === 'counted' ? counting(attempt, looking) : looking);
  if (minter === undefined && attempt.kind !== 'counted') throw tooMany(attempt);
  return minter;
}

/** Takes the same time for unknown users and wrong passwords. */
async function identifyUser(
  { username, password, address }: { username: string; password: string; address: string },
  { users, passwords, throttle, oidc }: IdentifyDeps,
): Promise<Minter> {
  if (oidc.settings?.passwordEnabled === false) throw new GatewayError('FORBIDDEN', 'Password login is disabled');
  const attempt = await admitted(throttle, address, nameKeyOf(username));
  const user = users.findLogin(username);
  const isRight = await counting(attempt, passwords.matches(password, user?.disabled ? null : user?.passwordHash));
  // The password may have changed during the comparison.
  if (user === undefined || !isRight || users.versionOf(user.userId) !== user.version) throw wrongCredentials();
  return minterOfUser(user.userId, user.version);
}

interface Typed {
  userId: string;
  password: string;
  address: string;
  /** The message if it is wrong. */
  refusal: string;
}

/**
 * Throws FORBIDDEN unless it is the password of a user who is logged in. Guesses count together with those at the login
 * form. Returns the version of the user that the password belongs to.
 */
export async function requirePassword(
  { userId, password, address, refusal }: Typed,
  { users, passwords, throttle }: Pick<IdentifyDeps, 'users' | 'passwords' | 'throttle'>,
): Promise<number> {
  const { username } = users.get(userId);
  const attempt = await admitted(throttle, address, nameKeyOf(username));
  const user = users.findLogin(username);
  const isRight = await counting(attempt, passwords.matches(password, user?.passwordHash));
  const isStill = user !== undefined && users.versionOf(userId) === user.version;
  if (!isRight || !isStill) throw new GatewayError('FORBIDDEN', refusal);
  return user.version;
}

/** Waits while as many passwords are being checked as may still be wrong. Throws RATE_LIMITED for a locked account or address. */
async function admitted(throttle: LoginThrottle, address: string, account: string): Promise<CountedAttempt> {
  for (;;) {
    const attempt = throttle.begin('password', address, account);
    if (attempt.kind === 'counted') return attempt;
    if (attempt.kind === 'locked') throw tooMany(attempt);
    await attempt.free;
  }
}

type CountedAttempt = Extract<Attempt, { kind: 'counted' }>;

const tooMany = (attempt: Exclude<Attempt, CountedAttempt>) =>
  new GatewayError('RATE_LIMITED', 'Too many login attempts', {
    retryAfterMs: attempt.kind === 'locked' ? attempt.retryAfterMs : 1_000,
  });

/** An attempt counts as failed if what was given is wrong, and not if nobody could look at it. */
async function counting<T>(attempt: CountedAttempt, looking: Promise<T>): Promise<T> {
  try {
    const found = await looking;
    attempt.ended(found === undefined || found === false ? 'failed' : 'succeeded');
    return found;
  } catch (error) {
    attempt.ended('succeeded');
    throw error;
  }
}

const wrongCredentials = () => new GatewayError('UNAUTHORIZED', 'Invalid credentials');

/** `version`: of the user, when the proof was checked. */
export const minterOfUser = (userId: string, version: number | undefined): Minter => ({
  parent: { kind: 'user', id: userId },
  scopes: OPERATOR.scopes,
  version,
});

/** Only a token can log in, so a session cannot extend itself. */
async function minterOfToken(
  token: string | undefined,
  authenticator: IdentifyDeps['authenticator'],
): Promise<Minter | undefined> {
  const principal = await authenticator.authenticate(token);
  if (principal && isService(principal)) {
    throw new GatewayError('FORBIDDEN', 'A service token cannot log in. Send it as "Authorization: Bearer …"');
  }
  const isToken = principal?.source.kind === 'operator' || principal?.source.kind === 'token';
  return isToken ? minterOf(principal) : undefined;
}
