import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { PERMISSIONS } from './permissions.ts';

const Permission = z.enum(PERMISSIONS);
/** The handler names those that do not exist. */
const Permissions = z.array(z.string().max(64)).max(100);

/** A set of permissions that users can hold. */
export const Role = z
  .strictObject({
    roleId: z.string(),
    name: z.string(),
    displayName: z.string(),
    permissions: z.array(Permission),
    /** Every daemon has it, and nobody can change it. */
    builtin: z.boolean(),
    /** 0 for built-in roles. */
    createdAtMs: z.int().min(0),
    updatedAtMs: z.int().min(0),
  })
  .meta({ id: 'Role' });
export type Role = z.infer<typeof Role>;

const RoleId = NonEmpty.max(64);

/** Roles and the permissions that they grant. */
export const roleContracts = {
  'role.list': contract({
    summary: 'All roles, the built-in ones first.',
    scope: 'approve',
    permission: 'admin.roles',
    params: () => z.strictObject({}).meta({ id: 'RoleListParams' }),
    result: () => z.strictObject({ roles: z.array(Role) }).meta({ id: 'RoleListResult' }),
  }),
  'role.create': contract({
    summary: 'Define a role. It can grant only permissions that the caller holds.',
    scope: 'approve',
    permission: 'admin.roles',
    audit: { action: 'role.create', id: 'roleId' },
    stepUp: always,
    refusesServices: true,
    params: () =>
      z
        .strictObject({ name: z.string().max(256), displayName: optionalText(256), permissions: Permissions })
        .meta({ id: 'RoleCreateParams' }),
    result: () => Role,
  }),
  'role.update': contract({
    summary: 'Change what a role grants. It applies to all holders at once, also on open connections.',
    scope: 'approve',
    permission: 'admin.roles',
    audit: { action: 'role.update', id: 'roleId' },
    serial: () => 'roles',
    stepUp: always,
    refusesServices: true,
    params: () =>
      z
        .strictObject({ roleId: RoleId, displayName: optionalText(256), permissions: Permissions.optional() })
        .meta({ id: 'RoleUpdateParams' }),
    result: () => Role,
  }),
  'role.delete': contract({
    summary: 'Delete a role, and take it away from its holders.',
    scope: 'approve',
    permission: 'admin.roles',
    audit: { action: 'role.delete', id: 'roleId' },
    serial: () => 'roles',
    stepUp: always,
    params: () => z.strictObject({ roleId: RoleId }).meta({ id: 'RoleDeleteParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'RoleDeleteResult' }),
  }),
};
