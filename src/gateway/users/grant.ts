import type { Scope } from '../../../protocol/contract.ts';
import { PERMISSIONS, type Permission } from '../../../protocol/methods/accounts/permissions.ts';
import { expandScopes } from '../rights.ts';

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

/** Whether everything that is needed is held. */
export const holdsAll = (held: ReadonlySet<Permission>, needed: Iterable<Permission>): boolean =>
  [...needed].every((permission) => held.has(permission));
