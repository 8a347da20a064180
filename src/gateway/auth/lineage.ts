import type { Scope } from '../../../protocol/contract.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { expandScopes } from '../rights.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import type { LineageColumns, Parent } from './parent.ts';
import type { Principal } from './principal.ts';

/** What a valid parent allows its children. */
export interface Bounds {
  scopes: ReadonlySet<Scope>;
  permissions: ReadonlySet<Permission>;
  /** Undefined: it does not expire. */
  expiresAtMs: number | undefined;
  /** The user at the top of the chain; undefined below the operator. */
  userId: string | undefined;
}

/** What users may do. */
export interface UserBounds {
  /** Undefined for users that may not log in. */
  boundsOf(userId: string): Bounds | undefined;
  /** Aborts when the user may do less than before. */
  endOf(userId: string): AbortSignal;
}

export interface Lineage {
  /** Undefined when the parent, or any credential above it, was revoked or has expired. */
  boundsOf(parent: Parent): Bounds | undefined;
}

/** The parent of a new credential, and the maximum rights it can get. */
export interface Minter {
  parent: Parent;
  scopes: ReadonlySet<Scope>;
  /**
   * Of the user, when the proof was checked. Checking takes a while: if the user's logins have ended since then, no login
   * starts. Undefined where nothing was awaited in between.
   */
  version?: number | undefined;
}

/** Principal of the operator token. Logins through the operator's links act as it. */
export const OPERATOR_ID = 'operator';

/** The operator token: its rights are not limited, and it does not end while the daemon runs. */
export const OPERATOR: Minter = {
  parent: { kind: 'operator', id: OPERATOR_ID },
  scopes: expandScopes(['approve']),
};

/** What credentials below the operator token may do at most. */
export const OPERATOR_BOUNDS: Bounds = {
  scopes: OPERATOR.scopes,
  permissions: ALL_PERMISSIONS,
  expiresAtMs: undefined,
  userId: undefined,
};

/**
 * A login session passes on its own parent, so logging out, or its expiry, ends nothing that was created in it. A service
 * token creates no credentials.
 */
export function minterOf({ source, scopes }: Pick<Principal, 'source' | 'scopes'>): Minter | undefined {
  if (scopes.has('service')) return undefined;
  switch (source.kind) {
    case 'operator':
    case 'local':
      return { parent: OPERATOR.parent, scopes };
    case 'token':
      return { parent: { kind: 'token', id: source.tokenId }, scopes };
    case 'login':
      return { parent: source.parent, scopes };
    case 'channel':
    case 'node':
    case 'unpaired':
      return undefined;
  }
}

export const parentOf = ({ parent_kind, parent_id }: LineageColumns): Parent => ({ kind: parent_kind, id: parent_id });

export const toColumns = ({ kind, id }: Parent): LineageColumns => ({ parent_kind: kind, parent_id: id });

/** The principal of logins below a parent. */
export const principalIdOf = ({ kind, id }: Parent): string => (kind === 'operator' ? OPERATOR_ID : `${kind}:${id}`);

/** The token that a principal acts under. */
export const tokenIdOf = (principalId: string): string | undefined => /^token:(.*)$/.exec(principalId)?.[1];

/** The user that a principal is; undefined for one that acts under a token. */
export const userIdOf = (principalId: string): string | undefined => /^user:(.*)$/.exec(principalId)?.[1];

/** The parent for which `principalIdOf` returns this; undefined for jobs and other principals without a credential. */
export function parentNamed(principalId: string): Parent | undefined {
  if (principalId === OPERATOR_ID) return OPERATOR.parent;
  const [tokenId, userId] = [tokenIdOf(principalId), userIdOf(principalId)];
  if (tokenId !== undefined) return { kind: 'token', id: tokenId };
  return userId === undefined ? undefined : { kind: 'user', id: userId };
}

/** The rights of a child: those requested that its parent also has. */
export const narrow = (scopes: Iterable<Scope>, { scopes: allowed }: Pick<Bounds, 'scopes'>): Scope[] =>
  [...scopes].filter((scope) => allowed.has(scope));

/** The expiry of a child: its own, or its parent's if that is earlier. */
export const clampEnd = (endMs: number, { expiresAtMs }: Pick<Bounds, 'expiresAtMs'>): number =>
  Math.min(endMs, expiresAtMs ?? Number.POSITIVE_INFINITY);

/** The minter was revoked after the request was checked. */
export const parentEnded = () =>
  new GatewayError('UNAUTHORIZED', 'The credential of this request was revoked or has expired');
