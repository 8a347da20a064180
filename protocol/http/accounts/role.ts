import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const Role = z.object({
  role_id: z.string(),
  name: z.string(),
  display_name: z.string(),
  /** Comma-separated. */
  permissions: z.string(),
  builtin: z.boolean(),
  org_id: z.string(),
  created: z.string(),
  updated: z.string(),
});

/** A list, or a comma-separated text. */
const Permissions = z.union([z.array(z.string()), z.string()]);
const Ok = z.object({ status: z.literal('ok') });

/** Roles and what they grant (HTTP.md, "Users and roles"). */
export const roleEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/roles',
    summary: 'All roles, the built-in ones first.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ roles: z.array(Role) }),
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/admin/roles',
    summary: 'Define a role.',
    scope: 'approve',
    request: () =>
      z.object({
        name: z.string().catch('').default(''),
        display_name: z.string().optional(),
        permissions: Permissions.optional(),
      }),
    reply: () => Role,
    errors: { 403: 'Cannot assign role with permissions you do not hold', 409: "Role 'x' already exists" },
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/roles/{role_id}',
    summary: 'Change what a role grants.',
    scope: 'approve',
    request: () =>
      z.object({
        role_id: z.string(),
        display_name: z.string().optional(),
        permissions: Permissions.optional(),
      }),
    reply: () => Role,
    errors: { 400: 'Cannot modify builtin role', 404: 'Role not found' },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/roles/{role_id}',
    summary: 'Delete a role, and take it away from its holders.',
    scope: 'approve',
    request: () => z.object({ role_id: z.string() }),
    reply: () => Ok,
    errors: { 400: 'Cannot delete builtin role', 404: 'Role not found' },
  }),
};
