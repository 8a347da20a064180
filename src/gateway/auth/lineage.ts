import type { Scope } from '../../../protocol/contract.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import type { LineageColumns, Parent } from './parent.ts';
import type { Principal } from './principal.ts';
import { expandScopes } from './scopes.ts';

/** What a parent that still stands allows its children. */
export interface Bounds {
  scopes: ReadonlySet<Scope>;
  /** Undefined: it does not expire. */
  expiresAtMs: number | undefined;
}

export interface Lineage {
  /** Undefined when the parent, or any credential above it, was revoked or has expired. */
  boundsOf(parent: Parent): Bounds | undefined;
}

/** Where a new credential hangs, and the rights that it can get at most. */
export interface Minter {
  parent: Parent;
  scopes: ReadonlySet<Scope>;
}

/** Principal of the machine's operator token. Logins through the operator's links act as it. */
export const OPERATOR_ID = 'operator';

/** The operator token, whose rights nothing narrows and which does not end while the daemon runs. */
export const OPERATOR: Minter = {
  parent: { kind: 'operator', id: OPERATOR_ID },
  scopes: expandScopes(['approve']),
};

/** A session passes its own parent on: logging out, or the end of its day, ends nothing that was minted in it. */
export function minterOf({ source, scopes }: Pick<Principal, 'source' | 'scopes'>): Minter | undefined {
  switch (source.kind) {
    case 'operator':
    case 'local':
      return { parent: OPERATOR.parent, scopes };
    case 'token':
      return { parent: { kind: 'token', id: source.tokenId }, scopes };
    case 'login':
      return { parent: source.parent, scopes };
    case 'node':
    case 'unpaired':
      return undefined;
  }
}

export const parentOf = ({ parent_kind, parent_id }: LineageColumns): Parent => ({ kind: parent_kind, id: parent_id });

export const toColumns = ({ kind, id }: Parent): LineageColumns => ({ parent_kind: kind, parent_id: id });

/** As whom logins below a parent act. */
export const principalIdOf = ({ kind, id }: Parent): string => (kind === 'operator' ? OPERATOR_ID : `${kind}:${id}`);

/** The token that a principal acts under. */
export const tokenIdOf = (principalId: string): string | undefined => /^token:(.*)$/.exec(principalId)?.[1];

/** The rights of a child: what it was given, less what its parent does not have. */
export const narrow = (scopes: Iterable<Scope>, { scopes: allowed }: Pick<Bounds, 'scopes'>): Scope[] =>
  [...scopes].filter((scope) => allowed.has(scope));

/** The end of a child: its own, or its parent's if that comes first. */
export const clampEnd = (endMs: number, { expiresAtMs }: Pick<Bounds, 'expiresAtMs'>): number =>
  Math.min(endMs, expiresAtMs ?? Number.POSITIVE_INFINITY);

/** The minter was revoked between the check of the request and now. */
export const parentEnded = () => new GatewayError('UNAUTHORIZED', 'The credential of this request has ended');
