import type { ToolServers } from './tool-servers.ts';

/** The tool servers where the configuration has none. */
export const NO_TOOL_SERVERS: ToolServers = {
  offered: () => [],
  find: () => undefined,
  ready: async () => undefined,
  start: () => undefined,
  list: () => [],
  refresh: async () => undefined,
  accept: async () => undefined,
  prompts: { list: async () => [], get: async () => undefined },
  retry: () => undefined,
  restart: () => false,
  close: async () => undefined,
};
