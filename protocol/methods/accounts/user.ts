import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { ApiToken } from './token.ts';

const AtMs = z.int().min(0);
const UserId = NonEmpty.max(64);
/** Long enough that the handler can say what is wrong with a name or a password. */
const Text = z.string().max(4_096);

/** A person who may log in. */
export const User = z
  .strictObject({
    userId: z.string(),
    username: z.string(),
    displayName: z.string(),
    disabled: z.boolean(),
    hasPassword: z.boolean(),
    createdAtMs: AtMs,
    lastLoginAtMs: AtMs.nullable(),
    /** The ids of the roles that the user holds. */
    roles: z.array(z.string()),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;

/** As much of a user as everyone here may know. */
const UserName = z
  .strictObject({ userId: z.string(), username: z.string(), displayName: z.string() })
  .meta({ id: 'UserName' });

/** A role that a user holds. */
const RoleAssignment = z
  .strictObject({ roleId: z.string(), name: z.string(), displayName: z.string(), builtin: z.boolean() })
  .meta({ id: 'RoleAssignment' });

/** A role, and whether the caller holds everything that it allows. */
const RoleChoice = RoleAssignment.extend({ assignable: z.boolean() }).meta({ id: 'RoleChoice' });

const Done = z.strictObject({ status: z.literal('ok') });
const Page = { limit: z.int().min(1).max(1_000).optional(), offset: z.int().min(0).optional() };

/** The people who may log in, their API tokens, and the roles that they hold. */
export const userContracts = {
  'user.list': contract({
    summary: 'Users in the order of creation, 100 at a time. `query` is part of a name.',
    scope: 'approve',
    permission: 'admin.users',
    params: () => z.strictObject({ query: optionalText(256), ...Page }).meta({ id: 'UserListParams' }),
    result: () =>
      z
        .strictObject({
          users: z.array(User),
          /** Of all users that match. */
          total: z.int().min(0),
        })
        .meta({ id: 'UserListResult' }),
  }),
  'user.names': contract({
    summary: 'Names of users: of those with these ids, or 50 of those who may log in. `query` is part of a name.',
    scope: 'read',
    params: () =>
      z
        .strictObject({
          /** Those of deleted users are left out. */
          userIds: z.array(NonEmpty.max(64)).max(500).optional(),
          /** Ignored with `userIds`. */
          query: optionalText(256),
        })
        .meta({ id: 'UserNamesParams' }),
    result: () => z.strictObject({ users: z.array(UserName) }).meta({ id: 'UserNamesResult' }),
  }),
  'user.create': contract({
    summary: 'Add a user. Without `roles`, the user may only look.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'user.create', id: 'userId' },
    stepUp: always,
    refusesServices: true,
    params: () =>
      z
        .strictObject({
          username: Text,
          displayName: Text,
          password: Text,
          roles: z.array(NonEmpty.max(64)).max(100).optional(),
        })
        .meta({ id: 'UserCreateParams' }),
    result: () => User,
  }),
  'user.update': contract({
    summary: 'Change a user. A new password, and disabling, end the user’s logins at once.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'user.update', id: 'userId' },
    stepUp: always,
    refusesServices: true,
    params: () =>
      z
        .strictObject({
          userId: UserId,
          displayName: optionalText(4_096),
          password: optionalText(4_096),
          disabled: z.boolean().optional(),
        })
        .meta({ id: 'UserUpdateParams' }),
    result: () => User,
  }),
  'user.delete': contract({
    summary: 'Delete a user, with the user’s logins and API tokens.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'user.delete', id: 'userId' },
    stepUp: always,
    params: () => z.strictObject({ userId: UserId }).meta({ id: 'UserDeleteParams' }),
    result: () => Done.meta({ id: 'UserDeleteResult' }),
  }),
  'user.token.list': contract({
    summary: 'The API tokens of a user, oldest first.',
    scope: 'approve',
    permission: 'admin.users',
    params: () => z.strictObject({ userId: UserId }).meta({ id: 'UserTokenListParams' }),
    result: () => z.strictObject({ tokens: z.array(ApiToken) }).meta({ id: 'UserTokenListResult' }),
  }),
  'user.token.create': contract({
    summary: 'Create an API token that acts for a user. Only this answer ever contains it.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'token.create', id: 'tokenId' },
    stepUp: always,
    refusesServices: true,
    params: () =>
      z
        .strictObject({
          userId: UserId,
          name: Text,
          /** The highest one counts. Default: what the user may do, as far as the caller may do it. */
          scopes: z.array(Text).max(10).optional(),
          expiresInMs: z.int().min(60_000).max(315_576_000_000).optional(),
        })
        .meta({ id: 'UserTokenCreateParams' }),
    result: () => ApiToken.extend({ token: z.string() }).meta({ id: 'UserTokenCreateResult' }),
  }),
  'user.role.list': contract({
    summary: 'The roles of a user.',
    scope: 'approve',
    permission: 'admin.users',
    params: () => z.strictObject({ userId: UserId }).meta({ id: 'UserRoleListParams' }),
    result: () => z.strictObject({ roles: z.array(RoleAssignment) }).meta({ id: 'UserRoleListResult' }),
  }),
  'user.role.choices': contract({
    summary: 'All roles by name, and which of them the caller may give and take away.',
    scope: 'approve',
    permission: 'admin.users',
    params: () => z.strictObject({}).meta({ id: 'UserRoleChoicesParams' }),
    result: () => z.strictObject({ roles: z.array(RoleChoice) }).meta({ id: 'UserRoleChoicesResult' }),
  }),
  'user.role.assign': contract({
    summary: 'Give a user a role, at once on open connections too. Nobody changes their own roles.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'role.assign', id: 'userId', of: 'user' },
    stepUp: always,
    refusesServices: true,
    params: () => z.strictObject({ userId: UserId, roleId: NonEmpty.max(64) }).meta({ id: 'UserRoleAssignParams' }),
    result: () => Done.meta({ id: 'UserRoleAssignResult' }),
  }),
  'user.role.unassign': contract({
    summary: 'Take a role away from a user, at once on open connections too.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'role.unassign', id: 'userId', of: 'user' },
    stepUp: always,
    params: () => z.strictObject({ userId: UserId, roleId: NonEmpty.max(64) }).meta({ id: 'UserRoleUnassignParams' }),
    result: () => Done.meta({ id: 'UserRoleUnassignResult' }),
  }),
};
