import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const text = z.string().catch('').default('');

const Session = z.object({
  status: z.literal('ok'),
  /** `full` with the write scope, otherwise `read`. */
  role: z.string(),
  /** Comma-separated. */
  scopes: z.string(),
  jwt: z.string(),
  user_id: z.string(),
  /** Comma-separated. */
  permissions: z.string(),
});

/** Logging a browser in and out (HTTP.md, "Logging in"). */
export const authEndpoints = {
  login: endpoint({
    verb: 'post',
    path: '/v1/api/auth/login',
    summary: 'Exchange a name and password, a one-time login code or a token for a session cookie.',
    scope: 'public',
    request: () =>
      z.object({
        username: z.string().nullish(),
        password: z.string().nullish(),
        code: z.string().nullish(),
        token: z.string().nullish(),
      }),
    reply: () => Session,
    errors: { 401: 'Invalid credentials', 429: 'Too many login attempts' },
  }),
  setup: endpoint({
    verb: 'post',
    path: '/v1/api/auth/setup',
    summary: 'Create the first user, who administers the daemon, and log in.',
    scope: 'public',
    request: () => z.object({ username: text, display_name: text, password: text, setup_code: z.string().nullish() }),
    reply: () => Session.extend({ username: z.string() }),
    errors: { 400: 'Auth is not enabled', 403: 'the setup code is missing', 409: 'Setup already completed' },
  }),
  whoami: endpoint({
    verb: 'get',
    path: '/v1/api/auth/whoami',
    summary: 'The caller with its scopes and permissions.',
    scope: 'public',
    request: () => z.object({}),
    reply: () =>
      z.object({
        user_id: z.string(),
        username: z.string().nullable(),
        display_name: z.string().nullable(),
        scopes: z.string(),
        permissions: z.string(),
        /** When the login ends, in seconds since 1970; null for other credentials. */
        exp: z.number().nullable(),
        /** How long that is, in seconds by the clock of the daemon. */
        expires_in: z.number().nullable(),
      }),
    errors: { 401: 'Not authenticated' },
  }),
  refresh: endpoint({
    verb: 'post',
    path: '/v1/api/auth/refresh',
    summary: 'Exchange the login of a user for a new one that lasts another 24 hours.',
    scope: 'public',
    request: () => z.object({}),
    reply: () => Session,
    errors: { 401: 'Not authenticated', 403: 'User has no active permissions' },
  }),
  password: endpoint({
    verb: 'post',
    path: '/v1/api/auth/password',
    summary: 'Change the caller’s own password. All other logins of the caller end.',
    scope: 'public',
    request: () => z.object({ current_password: text, new_password: text }),
    reply: () => Session,
    errors: { 401: 'Not authenticated', 403: 'The current password is wrong', 429: 'Too many login attempts' },
  }),
  confirm: endpoint({
    verb: 'post',
    path: '/v1/api/auth/confirm',
    summary: 'Prove again who the caller is, for five minutes (HTTP.md, "Confirming a login").',
    scope: 'public',
    request: () =>
      z.object({
        password: z.string().nullish(),
        code: z.string().nullish(),
        token: z.string().nullish(),
      }),
    reply: () => z.object({ status: z.literal('ok') }),
    errors: {
      400: 'password: required',
      401: 'Not authenticated',
      403: 'The password is wrong',
      429: 'Too many login attempts',
    },
  }),
  logout: endpoint({
    verb: 'post',
    path: '/v1/api/auth/logout',
    summary: 'End the login session and expire the cookie.',
    scope: 'public',
    noBody: true,
    request: () => z.object({}),
    reply: () => z.object({ status: z.literal('ok') }),
  }),
  status: endpoint({
    verb: 'get',
    path: '/v1/api/auth/status',
    summary: 'Who the caller is; works without a valid token.',
    scope: 'public',
    request: () => z.object({}),
    reply: () =>
      z.object({
        authenticated: z.boolean(),
        auth_enabled: z.boolean(),
        has_users: z.boolean(),
        setup_required: z.boolean(),
        /** Whether the setup needs the code that `headgate link` prints. */
        setup_code_required: z.boolean(),
        password_enabled: z.boolean(),
        oidc_enabled: z.boolean(),
        /** On the button; empty without a provider. */
        oidc_provider_name: z.string(),
        /** Where a browser begins the login through the provider; null without one. */
        oidc_login_url: z.string().nullable(),
        user_id: z.string().nullable(),
        scopes: z.array(z.string()),
        source: z.string().nullable(),
      }),
  }),
};
