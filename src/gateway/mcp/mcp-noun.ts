import type { ToolServers } from '../../agent/mcp/tool-servers.ts';
import { mcpMethods } from '../methods/admin/mcp.ts';
import { type McpAdminDeps, mcpAdminMethods } from '../methods/mcp/mcp-admin.ts';
import { type McpRegistryDeps, mcpRegistryMethods } from '../methods/mcp/mcp-registry.ts';

/** What the daemon gives for tool servers that are added over the wire. */
export type McpAdmin = Pick<McpAdminDeps, 'stored' | 'check'> & Pick<McpRegistryDeps, 'registryUrl' | 'fetch'>;

interface McpNounDeps
  extends Pick<McpAdminDeps, 'workdirs' | 'notSandboxed' | 'clean'>,
    Pick<McpRegistryDeps, 'clock'> {
  toolServers: ToolServers;
  mcpAdmin: McpAdmin;
  server: { nodeId: string };
  auth: { consents: McpAdminDeps['accounts'] };
}

/** Tool servers. They end after the runs that use them, so not with the nouns. */
export function mcpNoun({
  toolServers: servers,
  mcpAdmin,
  workdirs,
  notSandboxed,
  server,
  auth,
  clean,
  clock,
}: McpNounDeps) {
  const { stored, check, registryUrl, fetch } = mcpAdmin;
  const { nodeId } = server;
  const admin = { servers, stored, accounts: auth.consents, nodeId, clean, check, workdirs, notSandboxed };
  return {
    methods: {
      ...mcpMethods({ servers, stored, nodeId, clean }),
      ...mcpAdminMethods(admin),
      ...mcpRegistryMethods({ admin, registryUrl, fetch, clock }),
    },
    run: async () => servers.start(),
  };
}
