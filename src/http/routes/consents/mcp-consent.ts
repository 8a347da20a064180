import type { GatewayError } from '../../../../protocol/errors.ts';
import { mcpConsentEndpoints } from '../../../../protocol/http/consents/mcp-consent.ts';
import { isRecord } from '../../../../protocol/is-record.ts';
import { bind, given, type Via } from '../../bind.ts';
import { consentCookie, consentIn } from '../../cookie.ts';
import { iso } from '../../iso.ts';

const NOT_STORED = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

/** A person reads it on the page, in words of ours. Only a refusal with a reason; others get the usual answer. */
const toPage = ({ details }: GatewayError) =>
  isRecord(details) && typeof details.reason === 'string'
    ? { ...NOT_STORED, Location: `/?mcp_oauth_error=${encodeURIComponent(details.reason)}` }
    : undefined;

export const mcpConsentRoutes = [
  bind(mcpConsentEndpoints.start, 'mcp.consent.begin', {
    params: ({ server, scopes }) => ({
      server,
      ...(scopes !== '' && { scopes: scopes.split(' ').filter((scope) => scope !== '') }),
    }),
    reply: () => ({}),
    headers: ({ url, id, pending }, via) => ({
      ...NOT_STORED,
      Location: url,
      'Set-Cookie': consentCookie({ id, pending }, via),
    }),
    refusedTo: toPage,
  }),
  bind(mcpConsentEndpoints.callback, 'mcp.consent.finish', {
    params: ({ code, state, iss, error }, via: Via) => ({
      pending: given(consentIn(state, via)),
      state,
      code: given(code),
      iss: given(iss),
      error: given(error),
    }),
    reply: () => ({}),
    headers: ({ server }) => ({ ...NOT_STORED, Location: `/?mcp_oauth_success=${encodeURIComponent(server)}` }),
    refusedTo: toPage,
  }),
  bind(mcpConsentEndpoints.connections, 'mcp.consent.list', {
    params: () => ({}),
    reply: ({ consents, servers }) => ({
      connections: consents.map(({ server, scopes, connectedAtMs, expiresAtMs }) => ({
        server,
        scopes,
        connected: iso(connectedAtMs),
        expires: expiresAtMs === null ? null : iso(expiresAtMs),
      })),
      servers: servers.map(({ server, url }) => ({ server, consent_url: url })),
    }),
  }),
  bind(mcpConsentEndpoints.disconnect, 'mcp.consent.remove', {
    params: ({ server }) => ({ server }),
    reply: ({ status }) => ({ status }),
  }),
  bind(mcpConsentEndpoints.pending, 'mcp.consent.pending', {
    params: () => ({}),
    reply: ({ isUsed, pending }) => ({
      pending: pending.length,
      ...(isUsed && {
        servers: pending.map(({ server }) => server),
        consents: pending.map(({ server, code, scopes, url, sinceMs }) => ({
          server,
          code,
          scopes_required: scopes,
          consent_url: url,
          created: iso(sinceMs),
        })),
      }),
    }),
  }),
  bind(mcpConsentEndpoints.dismiss, 'mcp.consent.dismiss', {
    params: ({ server_name }) => ({ server: server_name }),
    fieldNames: { server: 'server_name' },
    reply: () => ({}),
  }),
  bind(mcpConsentEndpoints.dismissAll, 'mcp.consent.dismiss', { params: () => ({}), reply: () => ({}) }),
  bind(mcpConsentEndpoints.revoke, 'mcp.consent.revoke', {
    params: ({ name }) => ({ server: name }),
    fieldNames: { server: 'name' },
    reply: ({ rowsDeleted, usersBefore }) => ({
      status: 'ok' as const,
      rows_deleted: rowsDeleted,
      consented_users_before: usersBefore,
    }),
  }),
];
