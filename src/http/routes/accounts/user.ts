import { userEndpoints } from '../../../../protocol/http/accounts/user.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind } from '../../bind.ts';
import { iso } from '../../iso.ts';

const toUser = ({
  userId,
  username,
  displayName,
  createdAtMs,
  disabled,
  lastLoginAtMs,
  roles,
}: Result<'user.create'>) => ({
  user_id: userId,
  username,
  display_name: displayName,
  created: iso(createdAtMs),
  disabled,
  last_login: lastLoginAtMs === null ? null : iso(lastLoginAtMs),
  roles,
});

/** A scope includes the lower ones, which clients of the specification expect to see. */
export const SCOPES = {
  read: 'read',
  write: 'read,write',
  approve: 'read,write,approve',
  service: 'read,write,approve,service',
};

const DAY_MS = 86_400_000;
const listed = (text: string): string[] => text.split(',').map((part) => part.trim());

export const userRoutes = [
  bind(userEndpoints.list, 'user.list', {
    params: ({ query, limit, offset }) => ({ query, limit, offset }),
    reply: ({ users, total }) => ({ users: users.map(toUser), total }),
  }),
  bind(userEndpoints.create, 'user.create', {
    params: ({ username, display_name, password, roles }) => ({ username, displayName: display_name, password, roles }),
    reply: toUser,
  }),
  bind(userEndpoints.update, 'user.update', {
    params: ({ user_id, display_name, password, disabled }) => ({
      userId: user_id,
      displayName: display_name,
      password,
      disabled,
    }),
    reply: toUser,
  }),
  bind(userEndpoints.remove, 'user.delete', {
    params: ({ user_id }) => ({ userId: user_id }),
    reply: ({ status }) => ({ status }),
  }),
  bind(userEndpoints.tokens, 'user.token.list', {
    params: ({ user_id }) => ({ userId: user_id }),
    reply: ({ tokens }) => ({
      tokens: tokens.map(({ tokenId, tokenPrefix, name, scope, createdAtMs, expiresAtMs, lastUsedAtMs }) => ({
        token_id: tokenId,
        token_prefix: tokenPrefix,
        name,
        scopes: SCOPES[scope],
        created: iso(createdAtMs),
        expires: expiresAtMs === null ? null : iso(expiresAtMs),
        last_used: lastUsedAtMs === null ? null : iso(lastUsedAtMs),
      })),
    }),
  }),
  bind(userEndpoints.createToken, 'user.token.create', {
    params: ({ user_id, name, scopes, expires_days }) => ({
      userId: user_id,
      name,
      scopes: scopes === undefined ? undefined : listed(scopes),
      expiresInMs: expires_days == null ? undefined : Math.round(expires_days * DAY_MS),
    }),
    fieldNames: { expiresInMs: 'expires_days' },
    reply: ({ token, tokenId, tokenPrefix, scope }) => ({
      token,
      token_id: tokenId,
      token_prefix: tokenPrefix,
      scopes: SCOPES[scope],
    }),
    headers: () => ({ 'Cache-Control': 'no-store' }),
  }),
  bind(userEndpoints.revokeToken, 'token.revoke', {
    params: ({ token_id }) => ({ tokenId: token_id }),
    reply: () => ({ status: 'ok' as const }),
  }),
  bind(userEndpoints.roles, 'user.role.list', {
    params: ({ user_id }) => ({ userId: user_id }),
    reply: ({ roles }) => ({
      roles: roles.map(({ roleId, name, displayName, builtin }) => ({
        role_id: roleId,
        name,
        display_name: displayName,
        builtin,
      })),
    }),
  }),
  bind(userEndpoints.assignRole, 'user.role.assign', {
    params: ({ user_id, role_id }) => ({ userId: user_id, roleId: role_id }),
    reply: ({ status }) => ({ status }),
  }),
  bind(userEndpoints.unassignRole, 'user.role.unassign', {
    params: ({ user_id, role_id }) => ({ userId: user_id, roleId: role_id }),
    reply: ({ status }) => ({ status }),
  }),
];
