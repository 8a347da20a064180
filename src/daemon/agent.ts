import { createOutputSource } from '../gateway/history/output-source.ts';
import { toNodeDirectory } from '../gateway/nodes/node-directory.ts';
import { openNodes } from '../gateway/nodes/nodes.ts';
import type { SqliteStore } from '../gateway/store/sqlite-store.ts';
import type { LiveConfig } from './config/live-config.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { createTools, outputsOf } from './tools.ts';

type AgentOptions = Pick<
  DaemonOptions,
  'home' | 'environment' | 'config' | 'assets' | 'clock' | 'ids' | 'log' | 'replace'
>;

interface AgentDeps {
  /** The default working directory of workstreams. */
  workdir: string;
  store: SqliteStore;
  live: Pick<LiveConfig, 'nodes' | 'commandTimeoutSecs' | 'sandboxTier' | 'allowedHosts'>;
}

/** The agent's tools, and the nodes that one of the tools reaches. */
export async function createAgent(
  { home, environment, config, assets, clock, ids, log, replace }: AgentOptions,
  { workdir, store, live }: AgentDeps,
) {
  const rules = () => live.nodes;
  const nodes = await openNodes({ store, lastAliveMs: store.lastAliveMs, rules, clock, ids, log });
  const { toolbox, runner, notSandboxed, notices } = await createTools({
    home,
    environment,
    config,
    assets,
    workdir,
    live,
    onConnection: (connection) => log.info(connection, 'a command opened a connection'),
    nodes: toNodeDirectory(nodes),
    earlier: createOutputSource({ store, folder: outputsOf(home) }),
    clock,
    ids,
    log,
    replace,
  });
  return { nodes, toolbox, runner, notSandboxed, notices };
}
