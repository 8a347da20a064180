import type { ToolServers } from '../../agent/mcp/tool-servers.ts';
import { mcpMethods } from '../methods/admin/mcp.ts';

/** Tool servers. They end after the runs that use them, so not with the nouns. */
export const mcpNoun = (servers: ToolServers) => ({
  methods: mcpMethods(servers),
  run: async () => servers.start(),
});
