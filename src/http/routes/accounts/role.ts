import { roleEndpoints } from '../../../../protocol/http/accounts/role.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind } from '../../bind.ts';
import { iso } from '../../iso.ts';

const toRole = ({
  roleId,
  name,
  displayName,
  permissions,
  builtin,
  createdAtMs,
  updatedAtMs,
}: Result<'role.create'>) => ({
  role_id: roleId,
  name,
  display_name: displayName,
  permissions: permissions.join(','),
  builtin,
  org_id: 'default',
  created: iso(createdAtMs),
  updated: iso(updatedAtMs),
});

/** From a list, or from a comma-separated text. */
const listed = (permissions: string | readonly string[]): string[] =>
  (typeof permissions === 'string' ? permissions.split(',') : [...permissions])
    .map((permission) => permission.trim())
    .filter((permission) => permission !== '');

export const roleRoutes = [
  bind(roleEndpoints.list, 'role.list', {
    params: () => ({}),
    reply: ({ roles }) => ({ roles: roles.map(toRole) }),
  }),
  bind(roleEndpoints.create, 'role.create', {
    params: ({ name, display_name, permissions = [] }) => ({
      name,
      displayName: display_name,
      permissions: listed(permissions),
    }),
    reply: toRole,
  }),
  bind(roleEndpoints.update, 'role.update', {
    params: ({ role_id, display_name, permissions }) => ({
      roleId: role_id,
      displayName: display_name,
      permissions: permissions === undefined ? undefined : listed(permissions),
    }),
    reply: toRole,
  }),
  bind(roleEndpoints.remove, 'role.delete', {
    params: ({ role_id }) => ({ roleId: role_id }),
    reply: ({ status }) => ({ status }),
  }),
];
