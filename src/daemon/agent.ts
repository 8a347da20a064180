import { hostname } from 'node:os';
import path from 'node:path';
import { createBackgroundCommands } from '../agent/background/background-commands.ts';
import { createOutputGuard, type OutputGuard } from '../agent/guard/output-guard.ts';
import { createHooks } from '../agent/hooks/hooks.ts';
import { createOutputs } from '../agent/outputs/outputs.ts';
import { sharingCalls, sharingCommands } from '../agent/outputs/shared-outputs.ts';
import { createFolderSkills } from '../agent/skills/folder-skills.ts';
import { createHearing } from '../agent/speech/create-hearing.ts';
import { createPdfReader } from '../agent/tools/documents/read-pdf.ts';
import type { NodeDirectory } from '../agent/tools/node.ts';
import type { CommandAudit } from '../agent/tools/shell/bash-arguments.ts';
import { createCheckedGet } from '../egress/web/checked-get.ts';
import { createBackgroundRecords } from '../gateway/background/background-records.ts';
import { createOutputSource } from '../gateway/history/output-source.ts';
import { openMemories } from '../gateway/memories/open-memories.ts';
import { toNodeDirectory } from '../gateway/nodes/node-directory.ts';
import { type Nodes, openNodes } from '../gateway/nodes/nodes.ts';
import { createMessageRecall } from '../gateway/recall/message-recall.ts';
import { openSkills } from '../gateway/skills/open-skills.ts';
import type { DaemonStore } from '../gateway/store/daemon-store.ts';
import { createWatchRecords } from '../gateway/watches/watch-records.ts';
import { farNodes } from '../gateway/workers/far-nodes.ts';
import type { Machines } from '../gateway/workers/team.ts';
import { resolveFolder } from '../home/home-path.ts';
import type { openAccounts } from './accounts.ts';
import type { GuardedSecrets } from './config/guarded-secrets.ts';
import type { LiveConfig } from './config/live-config.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { nodeIdOf } from './node-id.ts';
import type { CommandsWay } from './programs.ts';
import { createTools, outputsOf } from './tools.ts';

type AgentOptions = Pick<
  DaemonOptions,
  'home' | 'userHome' | 'environment' | 'version' | 'config' | 'assets' | 'clock' | 'ids' | 'log'
>;

interface AgentDeps {
  commandsWay: CommandsWay;
  store: DaemonStore;
  commandAudit: CommandAudit;
  /** The daemon's own requests. */
  fetch: typeof fetch;
  auth: Pick<Awaited<ReturnType<typeof openAccounts>>, 'consents' | 'mcp'>;
  together: Machines | undefined;
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
    | 'channels'
    | 'mcp'
    | 'memory'
    | 'privateHosts'
    | 'trustedFolders'
  >;
}

/** The agent's tools, and the nodes that one of the tools reaches. */
export async function createAgent(
  { home, userHome, environment, version, config, assets, clock, ids, log }: AgentOptions,
  { commandsWay, store, together, live, secrets, commandAudit, fetch, auth }: AgentDeps,
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
  const folder = outputsOf(home);
  const outputs = createOutputs({ folder, stored: store.files?.outputs, log });
  const records = sharingCommands(createBackgroundRecords(store), outputs);
  const commands = createBackgroundCommands({ records, guard, outputs: folder, clock, ids, log });
  const nodeId = nodeIdOf(home, hostname());
  const watchRecords = createWatchRecords({ store, nodeId, clock, ids });
  const { skills, ...ofFolders } = openAgentSkills(
    { home, userHome, environment, config, clock, ids },
    { store, live, nodeId },
  );
  const memories = openMemories({ store, clock, ids, log, settings: () => live.memory });
  const pdf = createPdfReader({ clock, workerUrl: assets.pdfWorkerUrl });
  const { toolbox, pollToolbox, servers, runner, workspace, notSandboxed, notices } = await createTools({
    home,
    userHome,
    environment,
    version,
    config,
    assets,
    pdf,
    commandsWay,
    live,
    guard,
    background: commands,
    watches: watchRecords,
    knowledge: { memories: memories.agents, history: createMessageRecall({ store }), skills: skills.usable },
    commandAudit,
    mcpServers: auth.mcp.stored,
    accounts: auth.consents,
    fetch,
    nodes: nodesFor(together, nodes),
    earlier: createOutputSource({ store, outputs }),
    clock,
    ids,
    log,
  });
  return {
    nodes,
    background: { commands, records, watches: { records: watchRecords, toolbox: pollToolbox, notSandboxed } },
    memories,
    skills,
    folders: ofFolders.folders,
    folderSkills: ofFolders.folderSkills,
    clean: guard.clean,
    outputs,
    pdf,
    configured: await openConfigured({ home, ids, log }, { runner, guard, commandAudit, live }),
    toolbox: store.files ? sharingCalls(toolbox, outputs) : toolbox,
    servers,
    mcpAdmin: auth.mcp.admin,
    runner,
    workspace,
    notSandboxed,
    notices: [...notices, ...auth.mcp.notices],
  };
}

/** Nodes are connected to the active daemon, and a worker asks it. */
const nodesFor = (together: Machines | undefined, nodes: Nodes): NodeDirectory =>
  together?.role === 'worker' ? farNodes(together.leadLink) : toNodeDirectory(nodes);

interface ConfiguredDeps extends Pick<AgentDeps, 'commandAudit' | 'live'> {
  runner: Awaited<ReturnType<typeof createTools>>['runner'];
  guard: OutputGuard;
}

/** Commands of the configuration. */
async function openConfigured(
  { home, ids, log }: Pick<AgentOptions, 'home' | 'ids' | 'log'>,
  { runner, guard, commandAudit, live }: ConfiguredDeps,
) {
  const command = () => live.channels.transcribe;
  const folder = path.join(home, 'speech');
  return {
    hooks: createHooks({ runner, guard, audit: commandAudit, live, log }),
    hear: await createHearing({ runner, guard, audit: commandAudit, live, command, folder, ids }),
  };
}

/** Skills of the database, of the home and of projects, and where others come from. */
function openAgentSkills(
  {
    home,
    userHome,
    environment,
    config,
    clock,
    ids,
  }: Pick<AgentOptions, 'home' | 'userHome' | 'environment' | 'config' | 'clock' | 'ids'>,
  { store, live, nodeId }: Pick<AgentDeps, 'store' | 'live'> & { nodeId: string },
) {
  const folders = {
    home,
    trusted: () => live.trustedFolders.map((folder) => resolveFolder(folder, { userHome, cwd: home })),
  };
  const folderSkills = createFolderSkills(folders);
  const { discoveryUrl, githubApiUrl: apiUrl, githubRawUrl: rawUrl } = config.skills;
  const sources = () => ({ discoveryUrl, apiUrl, rawUrl, privateHosts: live.privateHosts });
  const get = createCheckedGet({ environment });
  return {
    folders,
    folderSkills,
    skills: openSkills({ store, folders: folderSkills, nodeId, get, sources, clock, ids }),
  };
}
