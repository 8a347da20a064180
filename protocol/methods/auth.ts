import { z } from 'zod';
import { contract } from '../contract.ts';
import { optionalText } from '../frames.ts';

/** A browser login session; `jwt` goes into the HttpOnly cookie and authenticates like any bearer token. */
const LoginResult = z
  .strictObject({
    status: z.literal('ok'),
    role: z.string(),
    scopes: z.array(z.string()),
    jwt: z.string(),
    userId: z.string(),
    expiresAtMs: z.int().min(0),
  })
  .meta({ id: 'AuthLoginResult' });

/** Logging in and out, and links that log in. */
export const authContracts = {
  'auth.login': contract({
    summary: 'Exchange a one-time login code or a token for a session.',
    scope: 'public',
    params: z.strictObject({ code: optionalText(256), token: optionalText(4096) }).meta({ id: 'AuthLoginParams' }),
    result: LoginResult,
  }),
  'auth.logout': contract({
    summary: 'End the caller’s login session, on open sockets and streams too.',
    scope: 'public',
    params: z.strictObject({}).meta({ id: 'AuthLogoutParams' }),
    result: z.strictObject({ status: z.literal('ok') }).meta({ id: 'AuthLogoutResult' }),
  }),
  'auth.status': contract({
    summary: 'Who the caller is and how to authenticate.',
    scope: 'public',
    params: z.strictObject({}).meta({ id: 'AuthStatusParams' }),
    result: z
      .strictObject({
        authenticated: z.boolean(),
        authEnabled: z.boolean(),
        userId: z.string().nullable(),
        scopes: z.array(z.string()),
        source: z.string().nullable(),
      })
      .meta({ id: 'AuthStatusResult' }),
  }),
  'auth.link': contract({
    summary: 'A one-time login link for a browser, valid for ten minutes.',
    scope: 'approve',
    params: z.strictObject({}).meta({ id: 'AuthLinkParams' }),
    result: z.strictObject({ url: z.string(), expiresAtMs: z.int().min(0) }).meta({ id: 'AuthLinkResult' }),
  }),
};
