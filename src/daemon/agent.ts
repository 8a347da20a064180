import { createBackgroundCommands } from '../agent/background/background-commands.ts';
import { createOutputGuard } from '../agent/guard/output-guard.ts';
import { createHooks } from '../agent/hooks/hooks.ts';
import type { CommandAudit } from '../agent/tools/shell/bash-arguments.ts';
import { createBackgroundRecords } from '../gateway/background/background-records.ts';
import { createOutputSource } from '../gateway/history/output-source.ts';
import { openMemories } from '../gateway/memories/open-memories.ts';
import { toNodeDirectory } from '../gateway/nodes/node-directory.ts';
import { openNodes } from '../gateway/nodes/nodes.ts';
import { createMessageRecall } from '../gateway/recall/message-recall.ts';
import type { SqliteStore } from '../gateway/store/sqlite-store.ts';
import type { GuardedSecrets } from './config/guarded-secrets.ts';
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
  commandAudit: CommandAudit;
  /** Never shown by a tool. */
  secrets: Pick<GuardedSecrets, 'current'>;
  live: Pick<
    LiveConfig,
    | 'nodes'
    | 'judge'
    | 'commandTimeoutSecs'
    | 'backgroundMaxSecs'
    | 'sandboxTier'
    | 'allowedHosts'
    | 'diagnostics'
    | 'hooks'
    | 'memory'
  >;
}

/** The agent's tools, and the nodes that one of the tools reaches. */
export async function createAgent(
  { home, environment, config, assets, clock, ids, log, replace }: AgentOptions,
  { workdir, store, live, secrets, commandAudit }: AgentDeps,
) {
  const guard = createOutputGuard({
    known: secrets.current,
    get settings() {
      return live.judge;
    },
    clock,
    log,
  });
  const rules = () => live.nodes;
  const nodes = await openNodes({ store, lastAliveMs: store.lastAliveMs, rules, clean: guard.clean, clock, ids, log });
  const records = createBackgroundRecords(store);
  const commands = createBackgroundCommands({
    records,
    guard,
    outputs: outputsOf(home),
    clock,
    ids,
    log,
  });
  const memories = openMemories({ store, clock, ids, log, settings: () => live.memory });
  const { toolbox, runner, notSandboxed, notices } = await createTools({
    home,
    environment,
    config,
    assets,
    workdir,
    live,
    guard,
    background: commands,
    knowledge: { memories: memories.agents, history: createMessageRecall({ store }) },
    commandAudit,
    nodes: toNodeDirectory(nodes),
    earlier: createOutputSource({ store, folder: outputsOf(home) }),
    clock,
    ids,
    log,
    replace,
  });
  const hooks = createHooks({ runner, guard, audit: commandAudit, live, log });
  return {
    nodes,
    background: { commands, records },
    memories,
    clean: guard.clean,
    hooks,
    toolbox,
    runner,
    notSandboxed,
    notices,
  };
}
