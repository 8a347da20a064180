import type { webcrypto } from 'node:crypto';
import { LIMITS } from '../../../../protocol/limits.ts';
import { STEP_UP_MS } from '../../../../protocol/methods/accounts/step-up.ts';
import type { Clock } from '../../../clock.ts';
import type { Ids } from '../../../ids.ts';
import { expandScopes } from '../../rights.ts';
import type { Statement, Store } from '../../store/store.ts';
import type { UserNews } from '../../users/user-rows.ts';
import type { Users } from '../../users/users.ts';
import type { CredentialWay } from '../authenticator.ts';
import { runExpiry } from '../expiry.ts';
import {
  type Bounds,
  clampEnd,
  type Lineage,
  type Minter,
  narrow,
  parentEnded,
  parentOf,
  principalIdOf,
  toColumns,
} from '../lineage.ts';
import type { Parent } from '../parent.ts';
import type { Principal } from '../principal.ts';
import { Proof } from '../proof.ts';
import { RightsChanged } from '../rights-changed.ts';
import { createClaimsReader, signLogin } from './login-jwt.ts';
import { SessionTable } from './session-table.ts';

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
  /** Ends open sockets and streams of the session at once. An unknown session is not an error. */
  revoke(jti: string, also?: readonly Statement[]): Promise<void>;
  /** When the person of a session that has not ended proved who they are. */
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

interface Session {
  parent: Parent;
  /** As asked for; what it may do changes with its parent. */
  scopes: readonly string[];
  principal: Principal;
  /** The same for its browser. */
  browser: Principal;
  expiresAtMs: number;
  /** The same in monotonic milliseconds, as far as this process knows, so that a clock set back does not prolong it. */
  endMs: number;
  end: AbortController;
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
    end(jti); // before the write: the session ends even if the write fails
    const row = store.db.updateTable('login_sessions').set({ revoked_ms: clock.now() }).where('jti', '=', jti);
    const notified = store.db.deleteFrom('push_subscriptions').where('login', '=', jti);
    await store.commit({ statements: [row.compile(), notified.compile(), ...also] });
  };

  return {
    revoke,
    async revokeBelow(tokenIds) {
      const ended = [...sessions.all()].filter(
        ([, { parent }]) => parent.kind === 'token' && tokenIds.includes(parent.id),
      );
      await Promise.all(ended.map(([jti]) => revoke(jti)));
    },
    renewBelow(userId, { loginsEnd, rightsChanged, keep }) {
      const own = sessions.ofUser(userId).filter(([jti]) => jti !== keep);
      for (const [jti, session] of own) {
        const bounds = lineage.boundsOf(session.parent);
        if (loginsEnd || bounds === undefined) end(jti);
        else if (rightsChanged) renew(session, bounds);
      }
    },
    start: (minter, options = {}) => start(minter, options, { deps, sessions, versionOf, revoke, end, standing }),
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
      proofOf(session)?.renew();
      return clock.now() + STEP_UP_MS;
    },
    proofOf(jti) {
      const session = standing(jti);
      return session && proofOf(session);
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
  revoke(jti: string): Promise<void>;
  end(jti: string): void;
  standing(jti: string): Session | undefined;
}

async function start(
  { parent, scopes: asked, version: checked }: Minter,
  { authenticatedMs, browser = false, also = [] }: StartOptions,
  { deps, sessions, versionOf, revoke, end, standing }: Opened,
): Promise<LoginSession> {
  const { store, clock, ids, lineage } = deps;
  const bounds = lineage.boundsOf(parent);
  if (bounds === undefined) throw parentEnded();
  // Read once, before everything that is awaited: a token signed with it is void if the user's logins end meanwhile.
  const version = checked ?? versionOf(bounds.userId);
  const limits = { most: deps.most ?? MAX_SESSIONS, mostOfOne: MAX_SESSIONS_OF_ONE };
  const oneTooMany = sessions.oneTooMany({ parent, userId: bounds.userId }, limits);
  if (oneTooMany !== undefined) await revoke(oneTooMany);
  const jti = ids.id('login');
  const createdMs = clock.now();
  const expiresAtMs = clampEnd(createdMs + LIMITS.cookieMs, bounds);
  const scopes = [...asked]; // narrowed whenever it is used, because the rights of a user may grow
  const row = store.db.insertInto('login_sessions').values({
    jti,
    ...toColumns(parent),
    scopes: scopes.join(','),
    created_ms: createdMs,
    expires_ms: expiresAtMs,
    revoked_ms: null,
    authenticated_ms: authenticatedMs ?? createdMs,
  });
  const jwt = await signLogin(deps, { jti, subject: principalIdOf(parent), version, expiresAtMs, browser });
  const about = { jti, parent, version, scopes, expiresAtMs, authenticatedMs: authenticatedMs ?? createdMs };
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
  return rows.flatMap((row) => {
    const { jti, scopes, expires_ms: expiresAtMs, authenticated_ms, created_ms } = row;
    const authenticatedMs = authenticated_ms ?? created_ms;
    const parent = parentOf(row);
    const bounds = lineage.boundsOf(parent);
    if (bounds === undefined) return [];
    // The row does not have it. Tokens with an earlier version do not reach their session any more.
    const version = versionIn(users, bounds.userId);
    const about = { jti, parent, version, scopes: scopes.split(','), expiresAtMs, authenticatedMs };
    return [[jti, toSession(about, bounds, clock)] as const];
  });
}

interface SessionRow {
  jti: string;
  parent: Parent;
  version: number;
  scopes: readonly string[];
  expiresAtMs: number;
  authenticatedMs: number;
}

function toSession(row: SessionRow, bounds: Bounds, clock: Pick<Clock, 'now' | 'monotonic'>): Session {
  const { parent, scopes, expiresAtMs } = row;
  const end = new AbortController();
  const proof = new Proof(clock, row.authenticatedMs);
  const leftMs = Math.min(LIMITS.cookieMs, expiresAtMs - clock.now());
  const endMs = clock.monotonic() + leftMs;
  return { parent, scopes, ...toPrincipals({ ...row, proof }, bounds, end.signal), expiresAtMs, endMs, end };
}

function toPrincipals(
  { jti, parent, version, scopes, proof, expiresAtMs }: Omit<SessionRow, 'authenticatedMs'> & { proof: Proof },
  bounds: Bounds,
  ended: AbortSignal,
): Pick<Session, 'principal' | 'browser'> {
  const { permissions, userId } = bounds;
  const id = principalIdOf(parent);
  const held = expandScopes(narrow(expandScopes(scopes), bounds));
  const toPrincipal = (browser: boolean): Principal => ({
    id,
    scopes: held,
    permissions,
    source: { kind: 'login', jti, parent, version, browser, proof, expiresAtMs },
    ended,
    ...(userId !== undefined && { userId }),
  });
  return { principal: toPrincipal(false), browser: toPrincipal(true) };
}

const proofOf = ({ principal: { source } }: Session): Proof | undefined =>
  source.kind === 'login' ? source.proof : undefined;

/** Open connections of the session end; later ones have the new rights. */
function renew(session: Session, bounds: Bounds): void {
  const before = session.end;
  const { source } = session.principal;
  if (source.kind !== 'login') return;
  session.end = new AbortController();
  Object.assign(session, toPrincipals({ ...source, scopes: session.scopes }, bounds, session.end.signal));
  before.abort(new RightsChanged());
}
