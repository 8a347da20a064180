import type { z } from 'zod';
import { mcpAdminEndpoints } from '../../../../protocol/http/mcp/mcp-admin.ts';
import type { Result } from '../../../../protocol/index.ts';
import { bind, given } from '../../bind.ts';
import { toImport, toTexts, toValues } from '../../input/json-fields.ts';
import { isoOrEmpty } from '../../iso.ts';

type Server = Result<'mcp.get'>;

/** Secrets may be in the answer. */
const headers = () => ({ 'Cache-Control': 'no-store' });

const toStatus = ({ state, tools, resources, prompts, problem = '', transport, command, url }: Server) => ({
  connected: state === 'connected',
  tools: tools.filter(({ isGone }) => !isGone).length,
  resources,
  prompts,
  error: problem,
  transport,
  command,
  url,
});

export const toMcpServer = (server: Server) => ({
  server_id: server.serverId,
  name: server.name,
  transport: server.transport,
  command: server.command,
  args: JSON.stringify(server.args),
  url: server.url,
  headers: JSON.stringify(server.headers),
  env: JSON.stringify(server.env),
  auth_type: server.authType,
  oauth_scopes: server.oauth?.scopes.join(' ') ?? '',
  oauth_client_id: server.oauth?.clientId ?? '',
  oauth_issuer: server.oauth?.issuer ?? '',
  oauth_client_secret: server.oauth?.clientSecret ?? '',
  network: server.network,
  folders: server.folders,
  writes_folders: server.writesFolders,
  sandbox: server.sandbox,
  auto_approve: server.autoApprove,
  enabled: server.enabled,
  timeout_secs: server.timeoutSecs,
  created_by: server.createdBy,
  registry_name: server.origin?.name ?? '',
  registry_version: server.origin?.version ?? '',
  registry_meta: JSON.stringify(server.origin ? { digest: server.origin.digest, choice: server.origin.choice } : {}),
  created: isoOrEmpty(server.createdAtMs),
  updated: isoOrEmpty(server.updatedAtMs),
  status: { [server.nodeId]: toStatus(server) },
  source: server.source === 'config' ? ('config' as const) : ('db' as const),
});

type Fields = Omit<z.output<ReturnType<typeof mcpAdminEndpoints.update.request>>, 'server_id' | 'name'>;

const scopesOf = (scopes: string | readonly string[]): string[] =>
  typeof scopes === 'string' ? scopes.split(' ').filter(Boolean) : [...scopes];

/** Undefined if the request says nothing of it. */
function toOAuth({ oauth_scopes: scopes, oauth_client_id: id, oauth_issuer: issuer, ...fields }: Fields) {
  const oauth = {
    scopes: scopes == null || scopes.length === 0 ? undefined : scopesOf(scopes),
    clientId: given(id),
    issuer: given(issuer),
    clientSecret: given(fields.oauth_client_secret),
  };
  return Object.values(oauth).every((value) => value === undefined) ? undefined : oauth;
}

/** Null and empty texts are the same as a field that is missing, because records have empty texts where there is nothing. */
const toFields = (request: Fields) => ({
  transport: given(request.transport),
  command: given(request.command),
  args: request.args == null ? undefined : toTexts(request.args),
  url: given(request.url),
  headers: request.headers == null ? undefined : toValues('headers', request.headers),
  env: request.env == null ? undefined : toValues('env', request.env),
  authType: given(request.auth_type),
  oauth: toOAuth(request),
  network: request.network ?? undefined,
  folders: request.folders ?? undefined,
  writesFolders: request.writes_folders ?? undefined,
  sandbox: request.sandbox ?? undefined,
  autoApprove: request.auto_approve ?? undefined,
  enabled: request.enabled ?? undefined,
  timeoutSecs: request.timeout_secs ?? undefined,
});

const isRevealed = (reveal: string | null | undefined) => reveal === 'true' || reveal === '1';

const reloading = {
  params: ({ server_id }: { server_id?: string | null | undefined }) => ({ serverId: given(server_id) }),
  reply: ({ status, nodeId, added, removed, changed }: Result<'mcp.reload'>) => ({
    status,
    results: { [nodeId]: { added, removed, changed } },
  }),
};

/** Names of variables and headers are shown as they are. */
const fieldNames = {
  env: 'env',
  headers: 'headers',
  oauth: 'oauth_client_id',
  'oauth.clientId': 'oauth_client_id',
  'oauth.issuer': 'oauth_issuer',
  'oauth.clientSecret': 'oauth_client_secret',
  'oauth.scopes': 'oauth_scopes',
};

export const mcpAdminRoutes = [
  bind(mcpAdminEndpoints.list, 'mcp.list', {
    params: ({ reveal }) => ({ reveal: isRevealed(reveal) }),
    reply: ({ servers }) => ({ servers: servers.map(toMcpServer) }),
    headers,
  }),
  bind(mcpAdminEndpoints.create, 'mcp.create', {
    params: ({ name, ...fields }) => ({ name: name ?? '', ...toFields(fields) }),
    reply: toMcpServer,
    fieldNames,
  }),
  bind(mcpAdminEndpoints.get, 'mcp.get', {
    params: ({ server_id, reveal }) => ({ serverId: server_id, reveal: isRevealed(reveal) }),
    reply: toMcpServer,
    headers,
  }),
  bind(mcpAdminEndpoints.update, 'mcp.update', {
    params: ({ server_id, name, ...fields }) => ({
      serverId: server_id,
      name: name ?? undefined,
      ...toFields(fields),
    }),
    reply: toMcpServer,
    fieldNames,
  }),
  bind(mcpAdminEndpoints.remove, 'mcp.delete', {
    params: ({ server_id }) => ({ serverId: server_id }),
    reply: ({ status }) => ({ status }),
  }),
  bind(mcpAdminEndpoints.import, 'mcp.import', {
    params: ({ config }) => ({ config: toImport(config) }),
    reply: ({ imported, skipped, errors, notes }) => ({ imported, skipped, errors, notes }),
  }),
  bind(mcpAdminEndpoints.reload, 'mcp.reload', reloading),
  bind(mcpAdminEndpoints.signal, 'mcp.reload', reloading),
  bind(mcpAdminEndpoints.signalShort, 'mcp.reload', reloading),
  bind(mcpAdminEndpoints.status, 'mcp.list', {
    params: () => ({}),
    reply: ({ servers }) => ({ servers: Object.fromEntries(servers.map((server) => [server.name, toStatus(server)])) }),
  }),
];
