import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

/** A person at the provider who is a user. */
const Identity = z.object({
  issuer: z.string(),
  subject: z.string(),
  user_id: z.string(),
  created: z.string(),
  last_login: z.string().nullable(),
});

const text = z.string().catch('').default('');
const Nothing = z.object({});

/** Logging in through an OpenID Connect provider (HTTP.md, "Logging in through a provider"). */
export const oidcEndpoints = {
  authorize: endpoint({
    verb: 'get',
    path: '/v1/api/auth/oidc/authorize',
    summary: 'Send the browser to the provider. With `prompt=login`, the provider asks the person again.',
    scope: 'public',
    request: () => z.object({ prompt: text }),
    reply: () => Nothing,
    status: 302,
    errors: {
      403: 'Create the first user before logging in through a provider',
      404: 'Login through a provider is not configured',
    },
  }),
  callback: endpoint({
    verb: 'get',
    path: '/v1/api/auth/oidc/callback',
    summary: 'Where the provider sends the browser back: to the page, with a session cookie or `oidc_error`.',
    scope: 'public',
    request: () => z.object({ code: text, state: text, iss: text, error: text }),
    reply: () => Nothing,
    status: 302,
    errors: { 404: 'Login through a provider is not configured' },
  }),
  identities: endpoint({
    verb: 'get',
    path: '/v1/api/admin/users/{user_id}/oidc-identities',
    summary: 'The people of the provider who log in as a user.',
    scope: 'approve',
    request: () => z.object({ user_id: z.string() }),
    reply: () => z.object({ oidc_identities: z.array(Identity) }),
    errors: { 404: 'User not found' },
  }),
  addIdentity: endpoint({
    verb: 'post',
    path: '/v1/api/admin/users/{user_id}/oidc-identities',
    summary: 'Let a person of the provider log in as a user.',
    scope: 'approve',
    request: () => z.object({ user_id: z.string(), issuer: z.string().optional(), subject: text }),
    reply: () => Identity,
    errors: { 400: 'subject is required', 404: 'User not found', 409: 'This person is a user already' },
  }),
  removeIdentity: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/oidc-identities',
    summary: 'Do not let a person of the provider log in any more.',
    scope: 'approve',
    request: () => z.object({ issuer: text, subject: text }),
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 400: 'issuer and subject are required', 404: 'Identity not found' },
  }),
};
