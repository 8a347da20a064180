import { GatewayError } from '../../../../protocol/errors.ts';
import type { McpServer, mcpContracts } from '../../../../protocol/methods/admin/mcp.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { ConsentProblem } from '../../../agent/mcp/accounts/consent-problem.ts';
import { ServerProblem } from '../../../agent/mcp/tool-server.ts';
import type { ServerStatus, ToolServers } from '../../../agent/mcp/tool-servers.ts';
import type { Handlers } from '../../call.ts';
import { viewServers } from '../../mcp/server-view.ts';
import type { StoredServers } from '../../mcp/stored-servers.ts';

interface McpMethodDeps {
  servers: Pick<ToolServers, 'list' | 'refresh' | 'accept'>;
  stored: Pick<StoredServers, 'list'>;
  nodeId: string;
  /** Replaces known secrets. */
  clean(text: string): string;
}

export const mcpMethods = (deps: McpMethodDeps): Handlers<keyof typeof mcpContracts> => ({
  'mcp.list': ({ reveal }) => ({ servers: viewServers(deps, { reveal }) }),
  'mcp.refresh': async ({ name }, { principal }) => {
    try {
      found(name, await deps.servers.refresh(name, principal?.userId ?? ''));
    } catch (error) {
      if (error instanceof ConsentProblem) throw new GatewayError('UNAVAILABLE', error.message);
      if (!(error instanceof ServerProblem)) throw error;
      throw new GatewayError('UNAVAILABLE', deps.clean(`The tool server ${name} ${wordsOf(error)}`));
    }
    return shown(deps, name);
  },
  'mcp.accept': async ({ name, tool, digests }) => {
    const before = found(
      name,
      deps.servers.list().find((one) => one.name === name),
    );
    if (tool !== undefined && !before.tools.some(({ known }) => known.name === tool))
      throw new GatewayError('NOT_FOUND', `The tool server ${name} has no tool ${tool}`);
    if (digests) requireSeen(before, tool, digests);
    found(name, await deps.servers.accept(name, tool));
    return shown(deps, name);
  },
});

function shown(deps: McpMethodDeps, name: string): McpServer {
  const server = viewServers(deps).find((one) => one.name === name && one.state !== 'disabled');
  if (server === undefined) throw missing(name);
  return server;
}

function found(name: string, status: ServerStatus | undefined): ServerStatus {
  if (status === undefined || status.state === 'disabled') throw missing(name);
  return status;
}

/** A server may describe a tool again between the look and the click. */
function requireSeen({ name, tools }: ServerStatus, tool: string | undefined, digests: Record<string, string>): void {
  const accepted = tools.filter(({ known }) => known.changed && (tool === undefined || known.name === tool));
  const seen = new Map(Object.entries(digests));
  const unseen = accepted.find(({ known }) => seen.get(known.name) !== known.changed?.digest);
  if (unseen)
    throw new GatewayError(
      'CONFLICT',
      `The tool server ${name} now describes ${unseen.known.name} in another way than the one that you saw. Look again.`,
    );
}

const missing = (name: string) =>
  new GatewayError('NOT_FOUND', `MCP server not found: no enabled server is called ${name}`);
