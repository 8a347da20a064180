import { z } from 'zod';
import { always, contract } from '../../contract.ts';
import { NonEmpty, optionalText } from '../../frames.ts';
import { LoginResult } from './auth.ts';
import { OidcIdentity } from './oidc-identity.ts';

/** Why a login through the provider failed: `reason` in the details of the error, and `oidc_error` in the address of the page. */
export const OIDC_REFUSALS = [
  'expired',
  'denied',
  'invalid_token',
  'provider_refused',
  'provider_unavailable',
  'no_account',
  'account_disabled',
  'no_role',
  'busy',
  'rate_limited',
] as const;
/** One of them. */
export type OidcRefusal = (typeof OIDC_REFUSALS)[number];

const AtMs = z.int().min(0);
/** Longer than what providers send; authorization codes may be JWTs. */
const Answer = z.string().max(8_192);
const Issuer = NonEmpty.max(2_048);
const Subject = NonEmpty.max(255);

const Identified = { issuer: Issuer, subject: Subject };

/** Logging in through an OpenID Connect provider, and the people of the provider who are users. */
export const oidcContracts = {
  'oidc.authorize': contract({
    summary: 'Begin a login through the provider: the address to open, and a text to bring back.',
    scope: 'public',
    params: () =>
      z
        .strictObject({
          /** Ask the person again, even with a session at the provider. */
          fresh: z.boolean().optional(),
        })
        .meta({ id: 'OidcAuthorizeParams' }),
    result: () =>
      z
        .strictObject({
          url: z.string(),
          /** Binds the answer of the provider to the browser that asked for it. Valid once, for ten minutes. */
          pending: z.string(),
          expiresAtMs: AtMs,
        })
        .meta({ id: 'OidcAuthorizeResult' }),
  }),
  'oidc.callback': contract({
    summary: 'Exchange the answer of the provider for a session. A first login may create the user.',
    scope: 'public',
    audit: { action: 'auth.login' },
    params: () =>
      z
        .strictObject({
          pending: optionalText(512),
          state: Answer,
          code: optionalText(8_192),
          iss: optionalText(8_192),
          /** An error of the provider, in place of a code. */
          error: optionalText(8_192),
        })
        .meta({ id: 'OidcCallbackParams' }),
    result: () => LoginResult,
  }),
  'oidc.identity.list': contract({
    summary: 'The people of the provider who log in as a user.',
    scope: 'approve',
    permission: 'admin.users',
    params: () => z.strictObject({ userId: NonEmpty.max(64) }).meta({ id: 'OidcIdentityListParams' }),
    result: () => z.strictObject({ identities: z.array(OidcIdentity) }).meta({ id: 'OidcIdentityListResult' }),
  }),
  'oidc.identity.add': contract({
    summary: 'Let a person of the provider log in as a user. Without `issuer`, of the configured provider.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'user.identity.add', id: 'userId' },
    refusesServices: true,
    stepUp: always,
    params: () =>
      z
        .strictObject({ userId: NonEmpty.max(64), issuer: optionalText(2_048), subject: Subject })
        .meta({ id: 'OidcIdentityAddParams' }),
    result: () => OidcIdentity,
  }),
  'oidc.identity.remove': contract({
    summary: 'Do not let a person of the provider log in as a user any more. The logins of the user end.',
    scope: 'approve',
    permission: 'admin.users',
    audit: { action: 'user.identity.remove' },
    stepUp: always,
    params: () => z.strictObject(Identified).meta({ id: 'OidcIdentityRemoveParams' }),
    result: () => z.strictObject({ status: z.literal('ok') }).meta({ id: 'OidcIdentityRemoveResult' }),
  }),
};
