import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const text = z.string().catch('').default('');
const Nothing = z.object({});
const Server = z.object({ server: z.string().min(1).max(64) });

/** The accounts of people at tool servers (HTTP.md, "Accounts at tool servers"). */
export const mcpConsentEndpoints = {
  start: endpoint({
    verb: 'get',
    path: '/v1/api/mcp/oauth/start',
    summary: 'Send the browser to the provider of a tool server, where the person consents.',
    scope: 'write',
    request: () => z.object({ server: text, scopes: text }),
    reply: () => Nothing,
    status: 302,
    errors: { 404: 'No such server' },
  }),
  callback: endpoint({
    verb: 'get',
    path: '/v1/api/mcp/oauth/callback',
    summary: 'Where the provider sends the browser back: to the page, with `mcp_oauth_success` or `mcp_oauth_error`.',
    scope: 'public',
    request: () => z.object({ code: text, state: text, iss: text, error: text }),
    reply: () => Nothing,
    status: 302,
  }),
  connections: endpoint({
    verb: 'get',
    path: '/v1/api/mcp/oauth/connections',
    summary: 'The accounts that the caller has connected to tool servers.',
    scope: 'read',
    request: () => Nothing,
    reply: () =>
      z.object({
        connections: z.array(
          z.object({
            server: z.string(),
            scopes: z.array(z.string()),
            connected: z.string(),
            expires: z.string().nullable(),
          }),
        ),
        servers: z.array(z.object({ server: z.string(), consent_url: z.string() })),
      }),
  }),
  disconnect: endpoint({
    verb: 'delete',
    path: '/v1/api/mcp/oauth/connections/{server}',
    summary: 'Disconnect an account of the caller from a tool server.',
    scope: 'write',
    request: () => Server,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 404: 'No account is connected' },
  }),
  pending: endpoint({
    verb: 'get',
    path: '/v1/api/mcp/oauth/pending',
    summary: 'The tool servers that calls of the caller needed an account for, or further rights.',
    scope: 'read',
    request: () => Nothing,
    reply: () =>
      z.object({
        pending: z.number(),
        servers: z.array(z.string()).optional(),
        consents: z
          .array(
            z.object({
              server: z.string(),
              code: z.string(),
              scopes_required: z.array(z.string()),
              consent_url: z.string(),
              created: z.string(),
            }),
          )
          .optional(),
      }),
  }),
  dismiss: endpoint({
    verb: 'delete',
    path: '/v1/api/mcp/oauth/pending/{server_name}',
    summary: 'Forget that calls of the caller needed an account at a tool server, whether or not they did.',
    scope: 'read',
    request: () => z.object({ server_name: z.string().min(1).max(64) }),
    reply: () => Nothing,
    status: 204,
  }),
  dismissAll: endpoint({
    verb: 'delete',
    path: '/v1/api/mcp/oauth/pending',
    summary: 'Forget that calls of the caller needed accounts.',
    scope: 'read',
    request: () => Nothing,
    reply: () => Nothing,
    status: 204,
  }),
  revoke: endpoint({
    verb: 'post',
    path: '/v1/api/admin/mcp-servers/{name}/bulk-revoke',
    summary: 'Disconnect the accounts of all users from a tool server.',
    scope: 'approve',
    request: () => z.object({ name: z.string().min(1).max(64) }),
    reply: () => z.object({ status: z.literal('ok'), rows_deleted: z.number(), consented_users_before: z.number() }),
    errors: { 400: 'bulk-revoke is only valid for auth_type=oauth_user servers', 404: 'No such server' },
  }),
};
