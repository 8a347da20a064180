import type { Scope } from '../../../protocol/contract.ts';
import { PERMISSIONS, type Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { expandScopes, holds } from '../rights.ts';

/** What roles allow. */
export interface Grant {
  scopes: ReadonlySet<Scope>;
  permissions: ReadonlySet<Permission>;
}

export const ALL_PERMISSIONS: ReadonlySet<Permission> = new Set(PERMISSIONS);
export const NO_PERMISSIONS: ReadonlySet<Permission> = new Set();

/** What a user may do who holds these permissions. */
export function toGrant(held: Iterable<Permission>): Grant {
  const permissions = new Set(held);
  const named = [...permissions].map((permission) => (permission.startsWith('admin.') ? 'approve' : permission));
  return { scopes: expandScopes(named), permissions };
}

/**
 * The permissions of a credential that its scopes let it use: a token with fewer scopes than its user holds the
 * permissions of the user, and no method lets it use them.
 */
export const effectiveOf = (grant: Grant): Permission[] =>
  [...grant.permissions].filter((permission) => mayUse(grant, permission));

/** Whether a credential holds the permission, with a scope that lets it use it. */
export const mayUse = ({ scopes, permissions }: Grant, permission: Permission): boolean =>
  permissions.has(permission) && holds(scopes, scopeFor(permission));

/** The scope of the methods that a permission opens. */
const scopeFor = (permission: Permission): Scope =>
  permission.startsWith('admin.') ? 'approve' : (SCOPES[permission] ?? 'read');

const SCOPES: Partial<Record<Permission, Scope>> = {
  write: 'write',
  approve: 'approve',
  'tools.approve': 'approve',
  'workstreams.create': 'write',
  'workstreams.close': 'write',
  'coordinator.trust.send': 'write',
};

/** Whether everything that is needed is held. */
export const holdsAll = (held: ReadonlySet<Permission>, needed: Iterable<Permission>): boolean =>
  [...needed].every((permission) => held.has(permission));
