import { hash, type webcrypto } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import { expandScopes } from '../rights.ts';
import type { Store } from '../store/store.ts';
import { runExpiry } from './expiry.ts';
import {
  clampEnd,
  type Lineage,
  type Minter,
  narrow,
  parentEnded,
  parentOf,
  principalIdOf,
  toColumns,
} from './lineage.ts';
import type { Parent } from './parent.ts';
import type { Principal } from './principal.ts';

const ISSUER = 'headgate';
const AUDIENCE = 'headgate';
/** A separate token type, so that other JWTs are not accepted as logins. */
const TYPE = 'headgate-login+jwt';
const MAX_SESSIONS = 1_000;
const MAX_VERIFIED = 1_024;

interface LoginSession {
  jwt: string;
  expiresAtMs: number;
  principal: Principal;
}

/** Browser logins. Each use of a token checks that its session is still valid, so revocation takes effect at once. */
export interface LoginSessions {
  /**
   * The session lasts as long as the cookie, or until its parent ends. Throws UNAUTHORIZED when the parent has ended.
   */
  start(minter: Minter): Promise<LoginSession>;
  verify(jwt: string): Promise<Principal | undefined>;
  /** Ends open sockets and streams of the session at once. An unknown session is not an error. */
  revoke(jti: string): Promise<void>;
  /** Like `revoke`, for every session below the tokens. */
  revokeBelow(tokenIds: readonly string[]): Promise<void>;
  /** Ends expired sessions, until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

interface LoginSessionsDeps {
  store: Pick<Store, 'db' | 'commit'>;
  key: webcrypto.CryptoKey;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  lineage: Lineage;
}

interface Session {
  parent: Parent;
  principal: Principal;
  expiresAtMs: number;
  /** The same in monotonic milliseconds, as far as this process knows, so that a clock set back does not prolong it. */
  endMs: number;
  end: AbortController;
}

export async function openLoginSessions(deps: LoginSessionsDeps): Promise<LoginSessions> {
  const { store, clock, ids, lineage } = deps;
  const sessions = await loadSessions(deps);
  const verified = createVerifiedTokens();

  const standing = (jti: string): Session | undefined => {
    const session = sessions.get(jti);
    if (session === undefined || session.expiresAtMs <= clock.now() || session.endMs <= clock.monotonic())
      return undefined;
    return lineage.boundsOf(session.parent) && session;
  };
  const end = (jti: string) => {
    sessions.get(jti)?.end.abort(new Error('the login session has ended'));
    sessions.delete(jti);
  };
  const revoke = async (jti: string) => {
    end(jti); // before the write: the session ends even if the write fails
    const row = store.db.updateTable('login_sessions').set({ revoked_ms: clock.now() }).where('jti', '=', jti);
    await store.commit({ statements: [row.compile()] });
  };

  return {
    revoke,
    async revokeBelow(tokenIds) {
      const ended = [...sessions].filter(([, { parent }]) => parent.kind === 'token' && tokenIds.includes(parent.id));
      await Promise.all(ended.map(([jti]) => revoke(jti)));
    },
    async start({ parent, scopes: asked }) {
      const bounds = lineage.boundsOf(parent);
      if (bounds === undefined) throw parentEnded();
      const [oldest] = sessions.keys();
      if (sessions.size >= MAX_SESSIONS && oldest !== undefined) await revoke(oldest);
      const jti = ids.id('login');
      const createdMs = clock.now();
      const expiresAtMs = clampEnd(createdMs + LIMITS.cookieMs, bounds);
      const scopes = narrow(asked, bounds);
      const row = store.db.insertInto('login_sessions').values({
        jti,
        ...toColumns(parent),
        scopes: scopes.join(','),
        created_ms: createdMs,
        expires_ms: expiresAtMs,
        revoked_ms: null,
      });
      const jwt = await sign(deps, { jti, subject: principalIdOf(parent), expiresAtMs });
      const session = toSession({ jti, parent, scopes, expiresAtMs }, clock);
      sessions.set(jti, session); // before the write, so that a revocation of its parent meanwhile ends it too
      try {
        await store.commit({ statements: [row.compile()] });
      } catch (error) {
        end(jti);
        throw error;
      }
      if (standing(jti) === undefined) throw parentEnded();
      return { jwt, expiresAtMs, principal: session.principal };
    },
    async verify(jwt) {
      const digest = hash('sha256', jwt, 'base64');
      const jti = verified.find(digest) ?? (await readJti(jwt, deps));
      const session = jti === undefined ? undefined : standing(jti);
      if (jti === undefined || session === undefined) return undefined;
      verified.remember(digest, jti);
      return session.principal;
    },
    run: (signal) =>
      runExpiry(
        {
          sweep: () => {
            for (const jti of sessions.keys()) if (standing(jti) === undefined) end(jti);
          },
          ends: () => [...sessions.values()].map(({ expiresAtMs }) => expiresAtMs),
        },
        { clock, signal },
      ),
  };
}

/** Loads the sessions that are still valid and deletes the others. */
async function loadSessions({ store, clock }: LoginSessionsDeps): Promise<Map<string, Session>> {
  const gone = store.db.deleteFrom('login_sessions').where('expires_ms', '<=', clock.now());
  await store.commit({ statements: [gone.compile()] });
  const rows = await store.db
    .selectFrom('login_sessions')
    .selectAll()
    .where('revoked_ms', 'is', null)
    .orderBy('created_ms')
    .execute();
  return new Map(
    rows.map((row) => {
      const { jti, scopes, expires_ms: expiresAtMs } = row;
      return [jti, toSession({ jti, parent: parentOf(row), scopes: scopes.split(','), expiresAtMs }, clock)];
    }),
  );
}

interface SessionRow {
  jti: string;
  parent: Parent;
  scopes: readonly string[];
  expiresAtMs: number;
}

function toSession(row: SessionRow, clock: Pick<Clock, 'now' | 'monotonic'>): Session {
  const end = new AbortController();
  const principal: Principal = {
    id: principalIdOf(row.parent),
    scopes: expandScopes(row.scopes),
    source: { kind: 'login', jti: row.jti, parent: row.parent },
    ended: end.signal,
  };
  const leftMs = Math.min(LIMITS.cookieMs, row.expiresAtMs - clock.now());
  return { parent: row.parent, principal, expiresAtMs: row.expiresAtMs, endMs: clock.monotonic() + leftMs, end };
}

function sign(deps: LoginSessionsDeps, claims: { jti: string; subject: string; expiresAtMs: number }): Promise<string> {
  const nowSecs = Math.floor(deps.clock.now() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256', typ: TYPE })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(claims.subject)
    .setJti(claims.jti)
    .setIssuedAt(nowSecs)
    .setNotBefore(nowSecs)
    .setExpirationTime(Math.floor(claims.expiresAtMs / 1000))
    .sign(deps.key);
}

/** The session id of a token that we signed. The algorithm is fixed here and not taken from the token. */
async function readJti(jwt: string, { key, clock }: LoginSessionsDeps): Promise<string | undefined> {
  try {
    const { payload } = await jwtVerify(jwt, key, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      audience: AUDIENCE,
      typ: TYPE,
      requiredClaims: ['sub', 'jti', 'iat', 'nbf', 'exp'],
      currentDate: new Date(clock.now()),
    });
    return payload.jti;
  } catch {
    return undefined; // an invalid token authenticates nobody
  }
}

/** Remembers verified signatures by digest. The session itself must still be checked. */
function createVerifiedTokens() {
  const jtis = new Map<string, string>();
  return {
    find: (digest: string) => jtis.get(digest),
    remember(digest: string, jti: string) {
      jtis.delete(digest);
      jtis.set(digest, jti);
      const [oldest] = jtis.keys();
      if (jtis.size > MAX_VERIFIED && oldest !== undefined) jtis.delete(oldest);
    },
  };
}
