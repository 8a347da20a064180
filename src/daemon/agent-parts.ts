import { toNodeDirectory } from '../gateway/nodes/node-directory.ts';
import { openNodes } from '../gateway/nodes/nodes.ts';
import type { SqliteStore } from '../gateway/store/sqlite-store.ts';
import type { LiveConfig } from './config/live-config.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { createTools } from './tools.ts';

interface AgentPartDeps {
  store: SqliteStore;
  live: LiveConfig;
}

/** What the agent acts with: its tools, and the nodes that one of them reaches. */
export async function createAgentParts(options: DaemonOptions & { workdir: string }, { store, live }: AgentPartDeps) {
  const nodes = await openNodes({ ...options, store, lastAliveMs: store.lastAliveMs, rules: () => live.nodes });
  return { nodes, ...(await createTools({ ...options, live, nodes: toNodeDirectory(nodes) })) };
}
