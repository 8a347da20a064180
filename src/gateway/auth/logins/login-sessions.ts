import type { webcrypto } from 'node:crypto';
import { LIMITS } from '../../../../protocol/limits.ts';
import { STEP_UP_MS } from '../../../../protocol/methods/accounts/step-up.ts';
import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import type { Statement, Store } from '../../store/store.ts';
import type { UserNews } from '../../users/user-rows.ts';
import type { Users } from '../../users/users.ts';
import type { CredentialWay } from '../authenticator.ts';
import { runExpiry } from '../expiry.ts';
import { clampEnd, type Lineage, type Minter, parentEnded, parentOf, principalIdOf, toColumns } from '../lineage.ts';
import type { Principal } from '../principal.ts';
import type { Proof } from '../proof.ts';
import { createClaimsReader, signLogin } from './login-jwt.ts';
import { type Follows, findPredecessor, requireUnended, succeed } from './predecessor.ts';
import { renew, type Session, storedProof, toSession } from './session-principals.ts';
import { revocationOf, revocationOfFamily } from './session-rows.ts';
import { familyOf, SessionTable } from './session-table.ts';

const MAX_SESSIONS = 10_000;
/** So that one user, or one token without a user, cannot end the logins of others. */
const MAX_SESSIONS_OF_ONE = 100;

export interface LoginSession {
  jwt: string;
  expiresAtMs: number;
  principal: Principal;
}

interface StartOptions {
  /** When the person proved who they are; default: now. */
  authenticatedMs?: number | undefined;
  /** The session before it in the same browser. If it is of the same user or credential, they end together. */
  follows?: Follows | undefined;
  /** It replaces the session of a browser, and stays one even if it is sent as a Bearer token. */
  browser?: boolean;
  /** Stored in the same unit. */
  also?: readonly Statement[];
}

/** Browser logins. Each use of a token checks that its session is still valid, so revocation takes effect at once. */
export interface LoginSessions {
  /**
   * The session lasts as long as the cookie, or until its parent ends. Throws UNAUTHORIZED when the parent has ended, or
   * when the user has a later version than the minter.
   */
  start(minter: Minter, options?: StartOptions): Promise<LoginSession>;
  verify(jwt: string, via?: CredentialWay): Promise<Principal | undefined>;
  /** The person has proved again who they are. Resolves with the time until which that is fresh. */
  confirm(jti: string, also?: readonly Statement[]): Promise<number>;
  /**
   * Ends open sockets and streams of the session at once, and with it those before and after it in the same browser. An unknown
   * session is not an error.
   */
  revoke(jti: string, also?: readonly Statement[]): Promise<void>;
  /** When the person proved who they are. Undefined: the session, and all of the same browser, have ended. */
  proofOf(jti: string): Proof | undefined;
  /** Like `revoke`, for every session below the tokens. */
  revokeBelow(tokenIds: readonly string[]): Promise<void>;
  /** After a change of a user: the user's sessions, also those below tokens, end or go on with other rights. */
  renewBelow(userId: string, news: UserNews): void;
  /** Ends expired sessions, until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

interface LoginSessionsDeps {
  store: Pick<Store, 'db' | 'commit'>;
  key: webcrypto.CryptoKey;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  lineage: Lineage;
  users: Pick<Users, 'versionOf'>;
  /** How many sessions there are at most. */
  most?: number;
}

export async function openLoginSessions(deps: LoginSessionsDeps): Promise<LoginSessions> {
  const { store, clock, lineage, users } = deps;
  const sessions = new SessionTable(await loadSessions(deps));
  const findClaims = createClaimsReader(deps);

  const standing = (jti: string): Session | undefined => {
    const session = sessions.find(jti);
    if (session === undefined || session.expiresAtMs <= clock.now() || session.endMs <= clock.monotonic())
      return undefined;
    return lineage.boundsOf(session.parent) && session;
  };
  const versionOf = (userId: string | undefined) => versionIn(users, userId);
  const end = (jti: string) => {
    sessions.find(jti)?.end.abort(new Error('the login session has ended'));
    sessions.remove(jti);
  };
  const revoke = async (jti: string, also: readonly Statement[] = []) => {
    const family = sessions.familyOf(jti);
    for (const each of family) end(each); // before the write: they end even if the write fails
    await store.commit({ statements: [...revocationOfFamily(jti, family, clock.now()), ...also] });
  };
  const revokeOne = async (jti: string) => {
    end(jti);
    await store.commit({ statements: revocationOf(jti, clock.now()) });
  };

  return {
    revoke,
    async revokeBelow(tokenIds) {
      const ended = [...sessions.all()].filter(
        ([, { parent }]) => parent.kind === 'token' && tokenIds.includes(parent.id),
      );
      await Promise.all(ended.map(([jti]) => revokeOne(jti)));
    },
    renewBelow(userId, { loginsEnd, rightsChanged, keep }) {
      const own = sessions.ofUser(userId).filter(([jti]) => jti !== keep);
      for (const [jti, session] of own) {
        const bounds = lineage.boundsOf(session.parent);
        if (loginsEnd || bounds === undefined) end(jti);
        else if (rightsChanged) renew(session, bounds);
      }
    },
    start: (minter, options = {}) => start(minter, options, { deps, sessions, versionOf, revokeOne, end, standing }),
    async verify(jwt, via = 'bearer') {
      const claims = await findClaims(jwt);
      const session = claims && standing(claims.jti);
      if (!session || versionOf(session.principal.userId) !== claims.version) return undefined;
      return via === 'cookie' || claims.browser ? session.browser : session.principal;
    },
    async confirm(jti, also = []) {
      const session = standing(jti);
      if (session === undefined) throw parentEnded();
      const row = store.db.updateTable('login_sessions').set({ authenticated_ms: clock.now() }).where('jti', '=', jti);
      await store.commit({ statements: [row.compile(), ...also] });
      if (standing(jti) === undefined) throw parentEnded(); // ended during the write
      session.proof.renew();
      return clock.now() + STEP_UP_MS;
    },
    proofOf(jti) {
      const [session] = [jti, ...sessions.familyOf(jti)].flatMap((each) => standing(each) ?? []);
      return session?.proof;
    },
    run: (signal) =>
      runExpiry(
        {
          sweep: () => {
            for (const [jti] of sessions.all()) if (standing(jti) === undefined) end(jti);
          },
          ends: () => [...sessions.all()].map(([, { expiresAtMs }]) => expiresAtMs),
        },
        { clock, signal },
      ),
  };
}

/** 0 below the operator. */
const versionIn = (users: LoginSessionsDeps['users'], userId: string | undefined): number =>
  userId === undefined ? 0 : (users.versionOf(userId) ?? Number.NaN);

interface Opened {
  deps: LoginSessionsDeps;
  sessions: SessionTable<Session>;
  versionOf(userId: string | undefined): number;
  revokeOne(jti: string): Promise<void>;
  end(jti: string): void;
  standing(jti: string): Session | undefined;
}

async function start(
  { parent, scopes: asked, version: checked }: Minter,
  { authenticatedMs, follows, browser = false, also = [] }: StartOptions,
  { deps, sessions, versionOf, revokeOne, end, standing }: Opened,
): Promise<LoginSession> {
  const { store, clock, ids, lineage } = deps;
  const bounds = lineage.boundsOf(parent);
  if (bounds === undefined) throw parentEnded();
  // Read once, before everything that is awaited: a token signed with it is void if the user's logins end meanwhile.
  const version = checked ?? versionOf(bounds.userId);
  const limits = { most: deps.most ?? MAX_SESSIONS, mostOfOne: MAX_SESSIONS_OF_ONE };
  const before = findPredecessor(follows, parent, standing);
  const oneTooMany = sessions.oneTooMany({ parent, userId: bounds.userId }, limits);
  if (oneTooMany !== undefined) await revokeOne(oneTooMany);
  const createdMs = clock.now();
  const expiresAtMs = clampEnd(createdMs + LIMITS.cookieMs, bounds);
  const { jti, provedMs, proof } = succeed(before, { id: ids.id('login'), provedMs: authenticatedMs, clock });
  const scopes = [...asked]; // narrowed whenever it is used, because the rights of a user may grow
  const row = store.db.insertInto('login_sessions').values({
    jti,
    ...toColumns(parent),
    scopes: scopes.join(','),
    created_ms: createdMs,
    expires_ms: expiresAtMs,
    revoked_ms: null,
    authenticated_ms: provedMs,
  });
  const jwt = await signLogin(deps, { jti, subject: principalIdOf(parent), version, expiresAtMs, browser });
  requireUnended(before, { oneTooMany, standing });
  const about = { jti, parent, version, scopes, expiresAtMs, proof };
  const session = toSession(about, bounds, clock);
  sessions.add(jti, session); // before the write, so that a revocation of its parent meanwhile ends it too
  try {
    await store.commit({ statements: [row.compile(), ...also] });
  } catch (error) {
    end(jti);
    throw error;
  }
  if (version !== versionOf(bounds.userId)) end(jti);
  if (standing(jti) === undefined) throw parentEnded();
  if (!before?.isRefresh) proof.renew(provedMs);
  return { jwt, expiresAtMs, principal: session.principal };
}

/** Loads the sessions that are still valid and deletes the others. */
async function loadSessions({
  store,
  clock,
  lineage,
  users,
}: LoginSessionsDeps): Promise<(readonly [jti: string, session: Session])[]> {
  const gone = store.db.deleteFrom('login_sessions').where('expires_ms', '<=', clock.now());
  await store.commit({ statements: [gone.compile()] });
  const rows = await store.db
    .selectFrom('login_sessions')
    .selectAll()
    .where('revoked_ms', 'is', null)
    .orderBy('created_ms')
    .execute();
  const proofs = new Map<string, Proof>();
  return rows.flatMap((row) => {
    const { jti, scopes, expires_ms: expiresAtMs, authenticated_ms, created_ms } = row;
    const proof = storedProof(authenticated_ms ?? created_ms, proofs.get(familyOf(jti)), clock);
    const parent = parentOf(row);
    const bounds = lineage.boundsOf(parent);
    if (bounds === undefined) return [];
    // The row does not have it. Tokens with an earlier version do not reach their session any more.
    const version = versionIn(users, bounds.userId);
    const about = { jti, parent, version, scopes: scopes.split(','), expiresAtMs, proof };
    proofs.set(familyOf(jti), proof);
    return [[jti, toSession(about, bounds, clock)] as const];
  });
}
