import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const SERVERS = '/v1/api/admin/mcp-servers';

const Status = z.object({
  connected: z.boolean(),
  tools: z.int(),
  resources: z.int(),
  prompts: z.int(),
  error: z.string(),
  transport: z.string(),
  command: z.string(),
  url: z.string(),
});

const Server = z.object({
  server_id: z.string(),
  name: z.string(),
  transport: z.enum(['stdio', 'streamable-http']),
  command: z.string(),
  /** JSON text of an array. */
  args: z.string(),
  url: z.string(),
  /** JSON texts of objects; their values are `***` without `reveal`. */
  headers: z.string(),
  env: z.string(),
  auth_type: z.enum(['none', 'static', 'oauth_user']),
  /** Separated by spaces. */
  oauth_scopes: z.string(),
  oauth_client_id: z.string(),
  oauth_issuer: z.string(),
  /** `***` without `reveal`. */
  oauth_client_secret: z.string(),
  network: z.array(z.string()),
  folders: z.array(z.string()),
  writes_folders: z.boolean(),
  sandbox: z.boolean(),
  auto_approve: z.boolean(),
  enabled: z.boolean(),
  timeout_secs: z.int(),
  created_by: z.string(),
  registry_name: z.string(),
  registry_version: z.string(),
  /** JSON text of an object. */
  registry_meta: z.string(),
  created: z.string(),
  updated: z.string(),
  /** By machine. */
  status: z.record(z.string(), Status),
  source: z.enum(['config', 'db']),
});

/** An object, or its JSON text. */
const Values = z.union([z.record(z.string(), z.string()), z.string()]);
const fields = {
  transport: z.string().nullish(),
  command: z.string().nullish(),
  args: z.union([z.array(z.string()), z.string()]).nullish(),
  url: z.string().nullish(),
  headers: Values.nullish(),
  env: Values.nullish(),
  auth_type: z.string().nullish(),
  /** Separated by spaces, or a list. */
  oauth_scopes: z.union([z.string(), z.array(z.string())]).nullish(),
  oauth_client_id: z.string().nullish(),
  oauth_issuer: z.string().nullish(),
  oauth_client_secret: z.string().nullish(),
  network: z.array(z.string()).nullish(),
  folders: z.array(z.string()).nullish(),
  writes_folders: z.boolean().nullish(),
  sandbox: z.boolean().nullish(),
  auto_approve: z.boolean().nullish(),
  enabled: z.boolean().nullish(),
  timeout_secs: z.int().nullish(),
};
const Reveal = z.object({ reveal: z.enum(['true', 'false', '1', '0', '']).nullish() });
const ById = z.object({ server_id: z.string() });

const INVALID =
  "name must match [a-zA-Z0-9._-]+, transport must be 'stdio' or 'streamable-http', command is required for stdio transport, or url is required for streamable-http transport";
const MISSING = 'MCP server not found';
const TAKEN = "Server 'x' already exists, or Maximum 200 servers";

const Changes = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
});
const Reloaded = z.object({ status: z.literal('ok'), results: z.record(z.string(), Changes) });
const reload = {
  verb: 'post',
  summary: 'Read the tool servers of the database again, and ask those again that have failed.',
  scope: 'approve',
  request: () => z.object({ server_id: z.string().nullish() }),
  reply: () => Reloaded,
  errors: { 404: MISSING, 409: 'The server x is disabled' },
} as const;

/** Tool servers (HTTP.md, "Tool servers"). */
export const mcpAdminEndpoints = {
  list: endpoint({
    verb: 'get',
    path: SERVERS,
    summary: 'The tool servers with their state. Secrets are masked.',
    scope: 'approve',
    request: () => Reveal,
    reply: () => z.object({ servers: z.array(Server) }),
  }),
  create: endpoint({
    verb: 'post',
    path: SERVERS,
    summary: 'Add a tool server. It is asked for its tools at once.',
    scope: 'approve',
    request: () => z.object({ name: z.string().nullish(), ...fields }),
    reply: () => Server,
    errors: { 400: INVALID, 409: TAKEN },
  }),
  get: endpoint({
    verb: 'get',
    path: '/v1/api/admin/mcp-servers/{server_id}',
    summary: 'One tool server. Secrets are masked.',
    scope: 'approve',
    request: () => Reveal.extend(ById.shape),
    reply: () => Server,
    errors: { 404: MISSING },
  }),
  update: endpoint({
    verb: 'put',
    path: '/v1/api/admin/mcp-servers/{server_id}',
    summary: 'Change a tool server. Calls under way end first.',
    scope: 'approve',
    request: () => ById.extend({ name: z.string().nullish(), ...fields }),
    reply: () => Server,
    errors: { 400: INVALID, 404: MISSING, 409: TAKEN },
  }),
  remove: endpoint({
    verb: 'delete',
    path: '/v1/api/admin/mcp-servers/{server_id}',
    summary: 'Remove a tool server. It ends at once.',
    scope: 'approve',
    request: () => ById,
    reply: () => z.object({ status: z.literal('ok') }),
    errors: { 404: MISSING },
  }),
  import: endpoint({
    verb: 'post',
    path: '/v1/api/admin/mcp-servers/import',
    summary: 'Add the tool servers of a configuration file of another program.',
    scope: 'approve',
    /** An object, or its JSON text. */
    request: () => z.object({ config: z.union([z.record(z.string(), z.unknown()), z.string()]).nullish() }),
    reply: () =>
      z.object({
        imported: z.array(z.string()),
        skipped: z.array(z.string()),
        errors: z.array(z.string()),
        notes: z.array(z.string()),
      }),
    errors: { 400: 'config is required (JSON object with mcpServers key), or No mcpServers found in config' },
  }),
  reload: endpoint({ ...reload, path: '/v1/api/admin/mcp-servers/reload' }),
  signal: endpoint({ ...reload, path: '/v1/api/_internal/mcp-reload' }),
  signalShort: endpoint({ ...reload, path: '/_internal/mcp-reload' }),
  status: endpoint({
    verb: 'get',
    path: '/v1/api/_internal/mcp-status',
    summary: 'The state of the tool servers on this machine, by name.',
    scope: 'approve',
    request: () => z.object({}),
    reply: () => z.object({ servers: z.record(z.string(), Status) }),
  }),
};
