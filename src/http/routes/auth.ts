import { authEndpoints } from '../../../protocol/http/auth.ts';
import { bind, given } from '../bind.ts';
import { expiredCookie, loginCookie } from '../cookie.ts';

export const authRoutes = [
  bind(authEndpoints.login, 'auth.login', {
    params: ({ code, token }) => ({ code: given(code), token: given(token) }),
    reply: ({ status, role, scopes, jwt, userId }) => ({
      status,
      role,
      scopes: scopes.join(','),
      jwt,
      user_id: userId,
    }),
    headers: ({ jwt }, via) => ({ 'Set-Cookie': loginCookie(jwt, via), 'Cache-Control': 'no-store' }),
  }),
  bind(authEndpoints.logout, 'auth.logout', {
    params: () => ({}),
    reply: ({ status }) => ({ status }),
    headers: (_result, via) => ({ 'Set-Cookie': expiredCookie(via) }),
  }),
  bind(authEndpoints.status, 'auth.status', {
    params: () => ({}),
    reply: ({ authenticated, authEnabled, userId, scopes, source }) => ({
      authenticated,
      auth_enabled: authEnabled,
      has_users: false,
      setup_required: false,
      user_id: userId,
      scopes,
      source,
    }),
  }),
];
