import type { Contract, Scope } from '../../protocol/contract.ts';
import { GatewayError } from '../../protocol/errors.ts';
import type { MethodName } from '../../protocol/index.ts';
import type { Permission } from '../../protocol/methods/accounts/permissions.ts';
import type { Principal } from './auth/principal.ts';
import { isService } from './auth/services/service-tokens.ts';
import { holdsOneOf, mayCall } from './rights.ts';
import { mayUse } from './users/grant.ts';

/** Throws UNAUTHORIZED or FORBIDDEN for a caller who may not call the method of a row. */
export function requireRights(principal: Principal | undefined, row: Contract, method: MethodName): void {
  requireScope(principal, row.scope, method);
  if (row.permission !== undefined) requirePermission(principal, row.permission);
  if (row.refusesServices) refuseServices(principal, method);
}

/**
 * Throws FORBIDDEN for someone with none of these permissions, which come with the roles of a user. Rows say what their
 * method needs; call this where only the state decides what a call does.
 */
export function requirePermission(
  holder: Pick<Principal, 'permissions'> | undefined,
  needed: Permission | readonly Permission[],
): void {
  if (holder && holdsOneOf(holder.permissions, needed)) return;
  const anyOf = typeof needed === 'string' ? [needed] : needed;
  const named = anyOf.map((permission) => `'${permission}'`).join(', ');
  throw new GatewayError(
    'FORBIDDEN',
    anyOf.length === 1 ? `Forbidden: missing ${named} permission` : `Forbidden: missing one of ${named}`,
  );
}

/** The same where the row asks for a lower scope: a token with fewer scopes than its user does not use the permission. */
export function requireUsable(principal: Principal | undefined, needed: Permission): void {
  requirePermission(principal, needed);
  if (principal && mayUse(principal, needed)) return;
  throw new GatewayError('FORBIDDEN', `Forbidden: the scope of this credential does not reach '${needed}'`);
}

function requireScope(principal: Principal | undefined, needed: Scope, method: MethodName): void {
  if (!principal) {
    if (needed === 'public') return;
    throw new GatewayError('UNAUTHORIZED', 'unauthorized');
  }
  if (mayCall(principal.scopes, needed)) return;
  throw new GatewayError('FORBIDDEN', `${method} needs the ${needed} scope`);
}

function refuseServices(principal: Principal | undefined, method: MethodName): void {
  if (!principal || !isService(principal)) return;
  throw new GatewayError(
    'FORBIDDEN',
    `${method} refuses service tokens: it creates credentials, gives rights, or is a decision of people`,
  );
}
