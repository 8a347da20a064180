import { z } from 'zod';
import { endpoint } from './endpoint.ts';

/** Logging a browser in and out (HTTP.md, "Logging in"). */
export const authEndpoints = {
  login: endpoint({
    verb: 'post',
    path: '/v1/api/auth/login',
    summary: 'Exchange a one-time login code or a token for a session cookie.',
    scope: 'public',
    request: z.object({ code: z.string().optional(), token: z.string().optional() }),
    reply: z.object({
      status: z.literal('ok'),
      role: z.string(),
      scopes: z.string(),
      jwt: z.string(),
      user_id: z.string(),
    }),
    errors: { 401: 'Invalid credentials', 429: 'Too many login attempts' },
  }),
  logout: endpoint({
    verb: 'post',
    path: '/v1/api/auth/logout',
    summary: 'End the login session and expire the cookie.',
    scope: 'public',
    request: z.object({}),
    reply: z.object({ status: z.literal('ok') }),
  }),
  status: endpoint({
    verb: 'get',
    path: '/v1/api/auth/status',
    summary: 'Who the caller is; works without a valid token.',
    scope: 'public',
    request: z.object({}),
    reply: z.object({
      authenticated: z.boolean(),
      auth_enabled: z.boolean(),
      has_users: z.boolean(),
      setup_required: z.boolean(),
      user_id: z.string().nullable(),
      scopes: z.array(z.string()),
      source: z.string().nullable(),
    }),
  }),
};
