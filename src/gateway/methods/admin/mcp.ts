import { GatewayError } from '../../../../protocol/errors.ts';
import type { McpServer, mcpContracts } from '../../../../protocol/methods/admin/mcp.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { ConsentProblem } from '../../../agent/mcp/accounts/consent-problem.ts';
import type { KnownTool } from '../../../agent/mcp/known-tools.ts';
import { ServerProblem } from '../../../agent/mcp/tool-server.ts';
import type { ServerStatus, ToolServers } from '../../../agent/mcp/tool-servers.ts';
import type { Handlers } from '../../call.ts';

export const mcpMethods = (
  servers: Pick<ToolServers, 'list' | 'refresh' | 'accept'>,
): Handlers<keyof typeof mcpContracts> => ({
  'mcp.list': () => ({ servers: servers.list().map(toServer) }),
  'mcp.refresh': async ({ name }, { principal }) => {
    try {
      return toServer(found(name, await servers.refresh(name, principal?.userId ?? '')));
    } catch (error) {
      if (error instanceof ConsentProblem) throw new GatewayError('UNAVAILABLE', error.message);
      if (!(error instanceof ServerProblem)) throw error;
      throw new GatewayError('UNAVAILABLE', `The tool server ${name} ${wordsOf(error)}`);
    }
  },
  'mcp.accept': async ({ name, tool }) => {
    const before = found(
      name,
      servers.list().find((one) => one.name === name),
    );
    if (tool !== undefined && !before.tools.some(({ known }) => known.name === tool))
      throw new GatewayError('NOT_FOUND', `The tool server ${name} has no tool ${tool}`);
    return toServer(found(name, await servers.accept(name, tool)));
  },
});

function found(name: string, status: ServerStatus | undefined): ServerStatus {
  if (status === undefined || status.state === 'disabled')
    throw new GatewayError('NOT_FOUND', `MCP server not found: no enabled server is called ${name}`);
  return status;
}

function toServer({ name, config, state, problem, notes, about, tools, callsUnderWay }: ServerStatus): McpServer {
  return {
    name,
    transport: config.url === undefined ? 'stdio' : 'streamable-http',
    command: config.command ?? '',
    url: config.url ?? '',
    authType: config.oauth ? 'oauth_user' : Object.keys(config.headers).length > 0 ? 'static' : 'none',
    headers: toMasked(config.headers),
    args: [...config.args],
    env: toMasked(config.env),
    network: [...config.network],
    folders: [...config.folders],
    writesFolders: config.writesFolders,
    sandbox: config.sandbox,
    autoApprove: config.autoApprove,
    enabled: config.enabled,
    timeoutSecs: config.timeoutSecs,
    state,
    ...(problem !== undefined && { problem }),
    notes: [...notes],
    about,
    calls: callsUnderWay,
    tools: tools.map(toTool),
  };
}

const toMasked = (values: Readonly<Record<string, string>>): McpServer['env'] =>
  Object.fromEntries(Object.keys(values).map((key) => [key, '***' as const]));

const toTool = ({ name, known }: { name: string; known: KnownTool }): McpServer['tools'][number] => ({
  name,
  tool: known.name,
  ...describe(known),
  ...(known.changed && { changed: describe(known.changed) }),
  isGone: known.isGone === true,
});

const describe = ({ description, inputSchema }: Pick<KnownTool, 'description' | 'inputSchema'>) => ({
  description,
  inputSchema: JSON.stringify(inputSchema),
});
