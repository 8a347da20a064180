import { GatewayError } from '../../../../protocol/errors.ts';
import type { Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import type { roleContracts } from '../../../../protocol/methods/accounts/role.ts';
import { requireAuthentication } from '../../auth/require-authentication.ts';
import type { Call, Handlers } from '../../call.ts';
import { holdsAll, NO_PERMISSIONS } from '../../users/grant.ts';
import type { Roles } from '../../users/roles.ts';
import { checkPermissions, checkRoleName, requirePlain } from '../../users/user-input.ts';

export interface RoleMethodDeps {
  roles: Roles;
  users: { rolesOf(userId: string): string[] };
}

export const roleMethods = ({ roles, users }: RoleMethodDeps): Handlers<keyof typeof roleContracts> => ({
  'role.list': () => ({ roles: roles.list() }),
  'role.create': async ({ name, displayName = name, permissions: asked }, call) => {
    requireAuthentication(call.principal, 'change roles');
    const permissions = checkPermissions(asked);
    checkRoleName(name);
    requirePlain(displayName);
    requireHeld(call, permissions);
    return roles.create({ name, displayName, permissions }, (id) => call.audited({ id, name, permissions }));
  },
  'role.update': async ({ roleId, displayName, permissions: asked }, call) => {
    requireAuthentication(call.principal, 'change roles');
    const permissions = asked && checkPermissions(asked);
    requirePlain(displayName);
    const before = roles.get(roleId);
    if (!before.builtin) {
      // Nobody gives or takes away what they could not give.
      requireHeld(call, [...before.permissions, ...(permissions ?? [])]);
      requireNotOwn(call, roleId, users);
    }
    return roles.update(roleId, { displayName, permissions }, call.audited({ name: before.name, permissions }));
  },
  'role.delete': async ({ roleId }, call) => {
    const { name, builtin, permissions } = roles.get(roleId);
    if (!builtin) {
      requireHeld(call, permissions);
      requireNotOwn(call, roleId, users);
    }
    await roles.remove(roleId, call.audited({ name }));
    return { status: 'ok' };
  },
});

/** Throws unless the caller holds everything that it hands out. */
export function requireHeld({ principal }: Pick<Call, 'principal'>, permissions: Iterable<Permission>): void {
  if (holdsAll(principal?.permissions ?? NO_PERMISSIONS, permissions)) return;
  throw new GatewayError('FORBIDDEN', 'Cannot assign role with permissions you do not hold');
}

/** A role that the caller holds is changed by others, as its assignment is. */
function requireNotOwn({ principal }: Pick<Call, 'principal'>, roleId: string, users: RoleMethodDeps['users']): void {
  if (principal?.userId === undefined || !users.rolesOf(principal.userId).includes(roleId)) return;
  throw new GatewayError('FORBIDDEN', 'Cannot modify a role that you hold');
}
