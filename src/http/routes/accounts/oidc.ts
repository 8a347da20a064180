import type { GatewayError } from '../../../../protocol/errors.ts';
import { oidcEndpoints } from '../../../../protocol/http/accounts/oidc.ts';
import type { Result } from '../../../../protocol/index.ts';
import { isRecord } from '../../../../protocol/is-record.ts';
import { bind, given, type Via } from '../../bind.ts';
import { expiredPendingCookie, loginCookie, pendingCookie, pendingIn } from '../../cookie.ts';
import { iso } from '../../iso.ts';

const NOT_STORED = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

const toIdentity = ({ issuer, subject, userId, createdAtMs, lastLoginAtMs }: Result<'oidc.identity.add'>) => ({
  issuer,
  subject,
  user_id: userId,
  created: iso(createdAtMs),
  last_login: lastLoginAtMs === null ? null : iso(lastLoginAtMs),
});

/** A person reads it on the page, in words of ours. Only a refusal with a reason; others get the usual answer. */
const toPage = ({ details }: GatewayError, via: Via) =>
  isRecord(details) && typeof details.reason === 'string'
    ? {
        ...NOT_STORED,
        Location: `/?oidc_error=${encodeURIComponent(details.reason)}`,
        'Set-Cookie': expiredPendingCookie(via),
      }
    : undefined;

export const oidcRoutes = [
  bind(oidcEndpoints.authorize, 'oidc.authorize', {
    params: ({ prompt }) => ({ fresh: prompt === 'login' }),
    fieldNames: { fresh: 'prompt' },
    reply: () => ({}),
    headers: ({ url, pending }, via) => ({
      ...NOT_STORED,
      Location: url,
      'Set-Cookie': pendingCookie(pending, via),
    }),
    refusedTo: toPage,
  }),
  bind(oidcEndpoints.callback, 'oidc.callback', {
    params: ({ code, state, iss, error }, via) => ({
      pending: given(pendingIn(via)),
      state,
      code: given(code),
      iss: given(iss),
      error: given(error),
    }),
    reply: () => ({}),
    headers: ({ jwt }, via) => ({
      ...NOT_STORED,
      Location: '/?oidc_success=1',
      'Set-Cookie': [loginCookie(jwt, via), expiredPendingCookie(via)],
    }),
    refusedTo: toPage,
  }),
  bind(oidcEndpoints.identities, 'oidc.identity.list', {
    params: ({ user_id }) => ({ userId: user_id }),
    reply: ({ identities }) => ({ oidc_identities: identities.map(toIdentity) }),
  }),
  bind(oidcEndpoints.addIdentity, 'oidc.identity.add', {
    params: ({ user_id, issuer, subject }) => ({ userId: user_id, issuer: given(issuer), subject }),
    reply: toIdentity,
  }),
  bind(oidcEndpoints.removeIdentity, 'oidc.identity.remove', {
    params: ({ issuer, subject }) => ({ issuer, subject }),
    reply: ({ status }) => ({ status }),
  }),
];
