import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { optionalText } from '../../frames.ts';
import { OidcIdentity } from './oidc-identity.ts';

/** A browser login session; `jwt` goes into the HttpOnly cookie and authenticates like any bearer token. */
export const LoginResult = z
  .strictObject({
    status: z.literal('ok'),
    role: z.string(),
    scopes: z.array(z.string()),
    /** What the roles of the user grant; all permissions for the operator. */
    permissions: z.array(z.string()),
    jwt: z.string(),
    /** The user, or the principal where no user logs in. */
    userId: z.string(),
    /** Absent where no user logs in. */
    username: z.string().optional(),
    expiresAtMs: z.int().min(0),
  })
  .meta({ id: 'AuthLoginResult' });

/** Long enough that the handler can say what is wrong. */
const Text = z.string().max(4_096);

/** Logging in and out, the first user, and links that log in. */
export const authContracts = {
  'auth.login': contract({
    summary: 'Exchange a name and password, a one-time login code or a token for a session.',
    scope: 'public',
    audit: { action: 'auth.login', id: 'userId', username: 'username' },
    params: () =>
      z
        .strictObject({
          username: optionalText(256),
          password: optionalText(4096),
          code: optionalText(256),
          token: optionalText(4096),
        })
        .meta({ id: 'AuthLoginParams' }),
    result: () => LoginResult,
  }),
  'auth.setup': contract({
    summary: 'Create the first user, who administers the daemon, and log in.',
    scope: 'public',
    audit: { action: 'auth.setup', id: 'userId' },
    params: () =>
      z
        .strictObject({
          username: Text,
          displayName: Text,
          password: Text,
          /** Needed where `auth.setup` is not open; `headgate link` prints it. */
          setupCode: optionalText(256),
        })
        .meta({ id: 'AuthSetupParams' }),
    result: () => LoginResult.extend({ username: z.string() }).meta({ id: 'AuthSetupResult' }),
  }),
  'auth.whoami': contract({
    summary: 'The caller with its scopes and permissions, and how a user logs in.',
    scope: 'public',
    params: () => z.strictObject({}).meta({ id: 'AuthWhoamiParams' }),
    result: () =>
      z
        .strictObject({
          userId: z.string(),
          username: z.string().optional(),
          displayName: z.string().optional(),
          scopes: z.array(z.string()),
          permissions: z.array(z.string()),
          /** Of a user: whether there is a password to log in with. */
          hasPassword: z.boolean().optional(),
          /** Of a user: the people at a provider who log in as this user. */
          identities: z.array(OidcIdentity).optional(),
          /** Of a login session. */
          expiresAtMs: z.int().min(0).optional(),
          /** How long that is by the clock of the daemon. */
          expiresInMs: z.int().min(0).optional(),
        })
        .meta({ id: 'AuthWhoamiResult' }),
  }),
  'auth.refresh': contract({
    summary: 'Exchange a login session for a new one that lasts another 24 hours.',
    scope: 'public',
    params: () => z.strictObject({}).meta({ id: 'AuthRefreshParams' }),
    result: () => LoginResult,
  }),
  'auth.password': contract({
    summary: 'Change the caller’s own password. All other logins of the caller end.',
    scope: 'public',
    audit: { action: 'auth.password', id: 'userId' },
    params: () => z.strictObject({ current: Text, new: Text }).meta({ id: 'AuthPasswordParams' }),
    result: () => LoginResult,
  }),
  'auth.confirm': contract({
    summary: 'Prove again who the caller is, for methods that a browser may call only for five minutes after that.',
    scope: 'public',
    audit: { action: 'auth.confirm' },
    params: () =>
      z
        .strictObject({
          /** Of the user who is logged in. */
          password: optionalText(4096),
          /** For a session that began with a link: the code of a new one. */
          code: optionalText(256),
          /** For a session that began with a token or its link: that token. */
          token: optionalText(4096),
        })
        .meta({ id: 'AuthConfirmParams' }),
    result: () =>
      z.strictObject({ status: z.literal('ok'), untilMs: z.int().min(0) }).meta({ id: 'AuthConfirmResult' }),
  }),
  'auth.logout': contract({
    summary: 'End the caller’s login session, on open sockets and streams too.',
    scope: 'public',
    audit: { action: 'auth.logout', by: 'handler' }, // one that ended nothing is no event
    params: () => z.strictObject({}).meta({ id: 'AuthLogoutParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'AuthLogoutResult' }),
  }),
  'auth.status': contract({
    summary: 'Who the caller is and how to authenticate.',
    scope: 'public',
    params: () => z.strictObject({}).meta({ id: 'AuthStatusParams' }),
    result: () =>
      z
        .strictObject({
          authenticated: z.boolean(),
          authEnabled: z.boolean(),
          /** Whether a user exists. Until then, `auth.setup` creates the first one. */
          hasUsers: z.boolean(),
          /** Whether `auth.setup` is possible now. */
          setupRequired: z.boolean(),
          /** Whether `auth.setup` needs a code. */
          setupCodeNeeded: z.boolean(),
          /** Whether users may log in with a password. */
          passwordEnabled: z.boolean(),
          /** The provider through which people may log in; null without one. */
          oidc: z
            .strictObject({
              name: z.string(),
              /** Where a browser begins the login. */
              url: z.string(),
            })
            .nullable(),
          userId: z.string().nullable(),
          scopes: z.array(z.string()),
          source: z.string().nullable(),
        })
        .meta({ id: 'AuthStatusResult' }),
  }),
  'auth.link': contract({
    summary: 'A one-time login link for a browser, valid for ten minutes.',
    scope: 'approve',
    audit: { action: 'auth.link' },
    stepUp: always,
    refusesServices: true,
    params: () => z.strictObject({}).meta({ id: 'AuthLinkParams' }),
    result: () =>
      z
        .strictObject({
          url: z.string(),
          expiresAtMs: z.int().min(0),
          /** For `auth.setup`, if it needs one. */
          setupCode: z.string().optional(),
        })
        .meta({ id: 'AuthLinkResult' }),
  }),
};
