import { LIMITS } from '../../../../protocol/limits.ts';
import type { Clock } from '../../../clock.ts';
import { expandScopes } from '../../rights.ts';
import { type Bounds, narrow, principalIdOf } from '../lineage.ts';
import type { Parent } from '../parent.ts';
import type { Principal } from '../principal.ts';
import { Proof } from '../proof.ts';
import { RightsChanged } from '../rights-changed.ts';

/** A login, as long as it lasts. */
export interface Session {
  parent: Parent;
  /** As asked for; what it may do changes with its parent. */
  scopes: readonly string[];
  proof: Proof;
  principal: Principal;
  /** The same for its browser. */
  browser: Principal;
  expiresAtMs: number;
  /** The same in monotonic milliseconds, as far as this process knows, so that a clock set back does not prolong it. */
  endMs: number;
  end: AbortController;
}

interface SessionRow {
  jti: string;
  parent: Parent;
  version: number;
  scopes: readonly string[];
  expiresAtMs: number;
  proof: Proof;
}

export function toSession(row: SessionRow, bounds: Bounds, clock: Pick<Clock, 'now' | 'monotonic'>): Session {
  const { parent, scopes, proof, expiresAtMs } = row;
  const end = new AbortController();
  const leftMs = Math.min(LIMITS.cookieMs, expiresAtMs - clock.now());
  const endMs = clock.monotonic() + leftMs;
  return { parent, scopes, proof, ...toPrincipals(row, bounds, end.signal), expiresAtMs, endMs, end };
}

function toPrincipals(
  { jti, parent, version, scopes, proof, expiresAtMs }: SessionRow,
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

/** Open connections of the session end; later ones have the new rights. */
export function renew(session: Session, bounds: Bounds): void {
  const before = session.end;
  const { source } = session.principal;
  if (source.kind !== 'login') return;
  session.end = new AbortController();
  Object.assign(
    session,
    toPrincipals({ ...source, scopes: session.scopes, proof: session.proof }, bounds, session.end.signal),
  );
  before.abort(new RightsChanged());
}

/** The latest of a family. */
export function storedProof(atMs: number, known: Proof | undefined, clock: Pick<Clock, 'now' | 'monotonic'>): Proof {
  known?.renew(atMs);
  return known ?? new Proof(clock, atMs);
}
