import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

/** A user as lists show it. */
const User = z.object({
  user_id: z.string(),
  username: z.string(),
  display_name: z.string(),
  created: z.string(),
  disabled: z.boolean(),
  last_login: z.string().nullable(),
  roles: z.array(z.string()),
});

/** An API token without its secret. */
const Token = z.object({
  token_id: z.string(),
  /** The first characters of the token’s digest, to tell tokens apart. */
  token_prefix: z.string(),
  name: z.string(),
  scopes: z.string(),
  created: z.string(),
  expires: z.string().nullable(),
  last_used: z.string().nullable(),
});

const Assignment = z.object({
  role_id: z.string(),
  name: z.string(),
  display_name: z.string(),
  builtin: z.boolean(),
});

const Ok = z.object({ status: z.literal('ok') });
const text = z.string().catch('').default('');

/** The people who may log in (HTTP.md, "Users and roles"). */
export const userEndpoints = {
  list: endpoint({
    verb: 'get',
    path: '/v1/api/admin/users',
    summary: 'Users in the order of creation.',
    scope: 'approve',
    request: () =>
      z.object({
        query: z.string().optional(),
        /** Default: all, as far as one answer has them. */
        limit: z.coerce.number().int().min(1).max(1_000).default(1_000),
        offset: z.coerce.number().int().min(0).optional(),
      }),
    reply: () => z.object({ users: z.array(User), total: z.number() }),
  }),
  create: endpoint({
    verb: 'post',
    path: '/v1/api/admin/users',
    summary: 'Add a user.',
    scope: 'approve',
    request: () =>
      z.object({
        username: text,
        display_name: text,
        password: text,
        roles: z.array(z.string()).optional(),
      }),
    reply: () => User,
    errors: { 404: 'Role not found', 409: 'Username already taken' },
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/users/{user_id}',
    summary: 'Change the name or the password of a user, or disable the user.',
    scope: 'approve',
    request: () =>
      z.object({
        user_id: z.string(),
        display_name: z.string().optional(),
        password: z.string().optional(),
        disabled: z.boolean().optional(),
      }),
    reply: () => User,
    errors: { 404: 'User not found' },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/users/{user_id}',
    summary: 'Delete a user, with the user’s logins and API tokens.',
    scope: 'approve',
    request: () => z.object({ user_id: z.string() }),
    reply: () => Ok,
    errors: { 400: 'Cannot delete your own account', 404: 'User not found' },
  }),
  tokens: endpoint({
    verb: 'get',
    path: '/v1/api/admin/users/{user_id}/tokens',
    summary: 'The API tokens of a user.',
    scope: 'approve',
    request: () => z.object({ user_id: z.string() }),
    reply: () => z.object({ tokens: z.array(Token) }),
    errors: { 404: 'User not found' },
  }),
  createToken: endpoint({
    verb: 'post',
    path: '/v1/api/admin/users/{user_id}/tokens',
    summary: 'Create an API token that acts for a user. Only this answer ever contains it.',
    scope: 'approve',
    request: () =>
      z.object({
        user_id: z.string(),
        name: text,
        /** Comma-separated. Default: what the user may do, as far as the caller may do it. */
        scopes: z.string().optional(),
        expires_days: z.coerce.number().min(0.001).max(3_650).nullish(),
      }),
    reply: () => z.object({ token: z.string(), token_id: z.string(), token_prefix: z.string(), scopes: z.string() }),
    errors: { 400: 'Invalid scopes (allowed: read, write, approve)', 404: 'User not found' },
  }),
  revokeToken: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/tokens/{token_id}',
    summary: 'Revoke an API token.',
    scope: 'approve',
    request: () => z.object({ token_id: z.string() }),
    reply: () => Ok,
    errors: { 404: 'Token not found' },
  }),
  roles: endpoint({
    verb: 'get',
    path: '/v1/api/admin/users/{user_id}/roles',
    summary: 'The roles of a user.',
    scope: 'approve',
    request: () => z.object({ user_id: z.string() }),
    reply: () => z.object({ roles: z.array(Assignment) }),
    errors: { 404: 'User not found' },
  }),
  assignRole: endpoint({
    verb: 'post',
    path: '/v1/api/admin/users/{user_id}/roles',
    summary: 'Give a user a role.',
    scope: 'approve',
    request: () => z.object({ user_id: z.string(), role_id: z.string('required').min(1, 'required') }),
    reply: () => Ok,
    errors: { 403: 'Cannot modify own role assignments', 404: 'Role not found' },
  }),
  unassignRole: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/users/{user_id}/roles/{role_id}',
    summary: 'Take a role away from a user.',
    scope: 'approve',
    request: () => z.object({ user_id: z.string(), role_id: z.string() }),
    reply: () => Ok,
    errors: { 403: 'Cannot modify own role assignments', 404: 'Role assignment not found' },
  }),
};
