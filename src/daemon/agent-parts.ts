import { toNodeDirectory } from '../gateway/nodes/node-directory.ts';
import { openNodes } from '../gateway/nodes/nodes.ts';
import type { SqliteStore } from '../gateway/store/sqlite-store.ts';
import type { LiveConfig } from './config/live-config.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { createTools } from './tools.ts';

interface AgentPartDeps {
  /** The default working directory of workstreams. */
  workdir: string;
  store: SqliteStore;
  live: LiveConfig;
}

/** The agent's tools, and the nodes that one of the tools reaches. */
export async function createAgentParts(
  { home, environment, config, assets, clock, ids, log }: DaemonOptions,
  { workdir, store, live }: AgentPartDeps,
) {
  const rules = () => live.nodes;
  const nodes = await openNodes({ store, lastAliveMs: store.lastAliveMs, rules, clock, ids, log });
  const tools = await createTools({
    ...{ home, environment, config, assets, workdir, live, clock, ids, log },
    nodes: toNodeDirectory(nodes),
  });
  const { toolbox, runner, notSandboxed, isSandboxedPeer, notices } = tools;
  return { nodes, toolbox, runner, notSandboxed, isSandboxedPeer, notices };
}
