import type { McpServer } from '../../../protocol/methods/admin/mcp.ts';
import type { OAuthSettings } from '../../agent/mcp/accounts/accounts.ts';
import type { KnownTool } from '../../agent/mcp/known-tools.ts';
import { authTypeOf } from '../../agent/mcp/server-config.ts';
import type { ServerStatus, ToolServers } from '../../agent/mcp/tool-servers.ts';
import { NEW_SERVER } from './server-input.ts';
import { maskServer } from './server-masks.ts';
import type { StoredServer, StoredServers } from './stored-servers.ts';

/** How the id of a server of config.json begins; its name follows. */
export const CONFIGURED = 'config:';

interface ViewDeps {
  servers: Pick<ToolServers, 'list'>;
  stored: Pick<StoredServers, 'list'>;
  nodeId: string;
  /** Replaces known secrets. */
  clean(text: string): string;
}

/** All tool servers as people see them, by name. */
export function viewServers({ servers, stored, nodeId, clean }: ViewDeps, { reveal = false } = {}): McpServer[] {
  const used = new Map(servers.list().map((status) => [status.name, status]));
  const rows = stored.list();
  const ofRows = rows.map((row) => {
    const status = row.problem === undefined ? used.get(row.name) : undefined;
    return toServer(status ?? unused(row), { row, reveal, nodeId, clean });
  });
  const inStore = new Set(rows.filter(({ problem }) => problem === undefined).map(({ name }) => name));
  const ofFile = [...used.values()].filter(({ name }) => !inStore.has(name));
  return [...ofFile.map((status) => toServer(status, { reveal: false, nodeId, clean })), ...ofRows].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

interface Viewed {
  /** Undefined: it is in config.json, whose secrets nobody sees over the wire. */
  row?: StoredServer;
  reveal: boolean;
  nodeId: string;
  clean(text: string): string;
}

function toServer(status: ServerStatus, { row, reveal, nodeId, clean }: Viewed): McpServer {
  const { name, config, state, problem, notes, about, tools, catalog, callsUnderWay } = status;
  const { command, args, env, headers, url, oauth } = reveal ? config : maskServer(config);
  const { origin } = row ?? {};
  return {
    serverId: row?.serverId ?? `${CONFIGURED}${name}`,
    name,
    source: row ? 'store' : 'config',
    createdBy: row?.createdBy ?? '',
    ...(row && { createdAtMs: row.createdAtMs, updatedAtMs: row.updatedAtMs }),
    ...(origin && { origin }),
    transport: config.url === undefined ? 'stdio' : 'streamable-http',
    command: command ?? '',
    url: url ?? '',
    authType: authTypeOf(config),
    ...(oauth && { oauth: toOAuth(oauth) }),
    headers: { ...headers },
    args: [...args],
    env: { ...env },
    network: [...config.network],
    folders: [...config.folders],
    writesFolders: config.writesFolders,
    sandbox: config.sandbox,
    autoApprove: config.autoApprove,
    enabled: config.enabled,
    timeoutSecs: config.timeoutSecs,
    state,
    ...(problem !== undefined && { problem: clean(problem) }),
    notes: notes.map(clean),
    about,
    nodeId,
    calls: callsUnderWay,
    resources: catalog.resources.length,
    prompts: catalog.prompts.length,
    tools: tools.map(toTool),
  };
}

const toOAuth = ({ scopes, clientId = '', issuer = '', clientSecret = '' }: OAuthSettings) => ({
  scopes: [...scopes],
  clientId,
  issuer,
  clientSecret,
});

/** A row that no server was made of. */
const unused = ({ name, config, problem }: StoredServer): ServerStatus => ({
  name,
  state: 'failed',
  problem,
  notes: [],
  about: '',
  config: config ?? { ...NEW_SERVER, enabled: false },
  tools: [],
  catalog: { resources: [], prompts: [] },
  callsUnderWay: 0,
});

const toTool = ({ name, known }: { name: string; known: KnownTool }): McpServer['tools'][number] => ({
  name,
  tool: known.name,
  ...describe(known),
  ...(known.changed && { changed: { ...describe(known.changed), digest: known.changed.digest } }),
  isGone: known.isGone === true,
});

const describe = ({ description, inputSchema }: Pick<KnownTool, 'description' | 'inputSchema'>) => ({
  description,
  inputSchema: JSON.stringify(inputSchema),
});
