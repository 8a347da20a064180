import { authEndpoints } from '../../../../protocol/http/accounts/auth.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind, given, type Via } from '../../bind.ts';
import { expiredCookie, loginCookie } from '../../cookie.ts';

/** The body of a login. */
const toSession = ({ status, role, scopes, jwt, userId, permissions }: Result<'auth.login'>) => ({
  status,
  role,
  scopes: scopes.join(','),
  jwt,
  user_id: userId,
  permissions: permissions.join(','),
});

const withCookie = ({ jwt }: Result<'auth.login'>, via: Via) => ({
  'Set-Cookie': loginCookie(jwt, via),
  'Cache-Control': 'no-store',
});

export const authRoutes = [
  bind(authEndpoints.login, 'auth.login', {
    params: ({ username, password, code, token }) => ({
      username: given(username),
      password: given(password),
      code: given(code),
      token: given(token),
    }),
    reply: toSession,
    headers: withCookie,
  }),
  bind(authEndpoints.setup, 'auth.setup', {
    params: ({ username, display_name, password, setup_code }) => ({
      username,
      displayName: display_name,
      password,
      setupCode: given(setup_code),
    }),
    reply: (result) => ({ ...toSession(result), username: result.username }),
    headers: withCookie,
  }),
  bind(authEndpoints.whoami, 'auth.whoami', {
    params: () => ({}),
    reply: ({ userId, username = null, displayName = null, scopes, permissions, expiresAtMs, expiresInMs }) => ({
      user_id: userId,
      username,
      display_name: displayName,
      scopes: scopes.join(','),
      permissions: permissions.join(','),
      exp: expiresAtMs === undefined ? null : Math.floor(expiresAtMs / 1000),
      expires_in: expiresInMs === undefined ? null : Math.floor(expiresInMs / 1000),
    }),
  }),
  bind(authEndpoints.refresh, 'auth.refresh', { params: () => ({}), reply: toSession, headers: withCookie }),
  bind(authEndpoints.password, 'auth.password', {
    params: ({ current_password, new_password }) => ({ current: current_password, new: new_password }),
    fieldNames: { current: 'current_password', new: 'new_password' },
    reply: toSession,
    headers: withCookie,
  }),
  bind(authEndpoints.confirm, 'auth.confirm', {
    params: ({ password, code, token }) => ({ password: given(password), code: given(code), token: given(token) }),
    reply: ({ status }) => ({ status }),
  }),
  bind(authEndpoints.logout, 'auth.logout', {
    params: () => ({}),
    reply: ({ status }) => ({ status }),
    headers: (_result, via) => ({ 'Set-Cookie': expiredCookie(via) }),
  }),
  bind(authEndpoints.status, 'auth.status', {
    params: () => ({}),
    reply: ({ oidc, userId, scopes, source, ...about }) => ({
      authenticated: about.authenticated,
      auth_enabled: about.authEnabled,
      has_users: about.hasUsers,
      setup_required: about.setupRequired,
      setup_code_required: about.setupCodeNeeded,
      password_enabled: about.passwordEnabled,
      oidc_enabled: oidc !== null,
      oidc_provider_name: oidc?.name ?? '',
      oidc_login_url: oidc?.url ?? null,
      user_id: userId,
      scopes,
      source,
    }),
  }),
];
