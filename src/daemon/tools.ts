import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type Notice, warn } from '../../protocol/notice.ts';
import type { BackgroundCommands } from '../agent/background/background-commands.ts';
import type { OutputGuard } from '../agent/guard/output-guard.ts';
import type { Accounts } from '../agent/mcp/accounts/accounts.ts';
import type { ToolServers } from '../agent/mcp/tool-servers.ts';
import { type Program, whyNot } from '../agent/process/programs.ts';
import { createProcessRunner, type ProcessRunner } from '../agent/process/runner.ts';
import { taskTool } from '../agent/tools/agents/task.ts';
import { createBashOutputTool } from '../agent/tools/background/bash-output.ts';
import { createKillShellTool } from '../agent/tools/background/kill-shell.ts';
import { createBashTool } from '../agent/tools/bash.ts';
import { coordinatorTools } from '../agent/tools/coordinator/coordinator-tools.ts';
import { withDiagnostics } from '../agent/tools/diagnostics/diagnose.ts';
import { createEditNotebookTool } from '../agent/tools/documents/edit-notebook.ts';
import type { PdfReader } from '../agent/tools/documents/read-pdf.ts';
import { createEditFileTool } from '../agent/tools/edit-file.ts';
import { createApplyPatchTool } from '../agent/tools/edits/apply-patch.ts';
import { createConfinement } from '../agent/tools/files/confinement.ts';
import { createListDirectoryTool } from '../agent/tools/list-directory.ts';
import { createNodeTool, type NodeDirectory } from '../agent/tools/node.ts';
import { askUserTool } from '../agent/tools/person/ask-user.ts';
import { planAgentTool } from '../agent/tools/person/plan-agent.ts';
import { createReadFileTool } from '../agent/tools/read-file.ts';
import { createReadOutputTool, type OutputSource } from '../agent/tools/read-output.ts';
import { createGlobTool } from '../agent/tools/search/glob-files.ts';
import { createSearchTool } from '../agent/tools/search.ts';
import type { BashDependencies, CommandAudit } from '../agent/tools/shell/bash-arguments.ts';
import { createPolledBash } from '../agent/tools/shell/polled-bash.ts';
import { createTodoTool } from '../agent/tools/todo.ts';
import type { Tool } from '../agent/tools/tool.ts';
import { createToolbox, type Toolbox } from '../agent/tools/toolbox.ts';
import { createWatchTool } from '../agent/tools/watch/watch.ts';
import { createWriteFileTool } from '../agent/tools/write-file.ts';
import type { WatchBook } from '../agent/watches/watch-book.ts';
import { createWorkspace } from '../agent/workspace/open-workspace.ts';
import type { Workspace } from '../agent/workspace/workspace.ts';
import { createEgressProxy } from '../egress/proxy/egress-proxy.ts';
import type { StoredServers } from '../gateway/mcp/stored-servers.ts';
import type { LiveConfig } from './config/live-config.ts';
import type { DaemonOptions } from './daemon-options.ts';
import type { CommandsWay } from './programs.ts';
import { createKnowledgeTools, type KnowledgeSources } from './tools/knowledge-tools.ts';
import { openToolServers } from './tools/tool-servers.ts';
import { createWebTools } from './tools/web-tools.ts';

type ToolOptions = Pick<
  DaemonOptions,
  'home' | 'userHome' | 'environment' | 'version' | 'clock' | 'ids' | 'config' | 'assets' | 'log'
> & {
  pdf: PdfReader;
  commandsWay: CommandsWay;
  nodes: NodeDirectory;
  /** The outputs of earlier calls. */
  earlier: OutputSource;
  background: BackgroundCommands;
  watches: WatchBook;
  /** What agents know from other conversations. */
  knowledge: KnowledgeSources;
  live: Pick<
    LiveConfig,
    'commandTimeoutSecs' | 'backgroundMaxSecs' | 'sandboxTier' | 'allowedHosts' | 'diagnostics' | 'mcp' | 'memory'
  >;
  commandAudit: CommandAudit;
  /** Tool servers of the configuration and the database. */
  mcpServers: Pick<StoredServers, 'servers'>;
  /** Accounts of people at tool servers. */
  accounts: Accounts;
  /** The daemon's own requests. */
  fetch: typeof fetch;
  /** All texts of tools pass it. */
  guard: OutputGuard;
};

interface Tools {
  toolbox: Toolbox;
  servers: ToolServers;
  /** The tool of the polls of watches. */
  pollToolbox: Toolbox;
  runner: ProcessRunner;
  workspace: Workspace;
  notSandboxed: string | undefined;
  /** For the person who starts the daemon. */
  notices: Notice[];
}

/** The agent's tools and their runner, which also cleans up after the previous daemon: the home must be locked. */
export async function createTools(options: ToolOptions): Promise<Tools> {
  const { home, environment, clock, ids, config, guard, live, log, background } = options;
  const { workdirs, programs, sandbox, limiter, notices } = options.commandsWay;
  const { bash, rg, git } = programs;
  const runner = createProcessRunner({
    home: await realpath(home),
    environment,
    sandbox,
    limiter,
    proxy: createEgressProxy(),
    bash,
    workdirs,
    clock,
    ids,
  });
  const strays = await runner.killStrays();
  if (strays > 0) log.warn({ strays }, 'ended processes that commands of the previous daemon had left behind');
  const servers = await openToolServers(options, {
    runner,
    servers: () => options.mcpServers.servers(),
    outputs: outputsOf(home),
  });
  const shell = toShell(options, runner);
  const bashTool = createBashTool(shell);
  const toolbox = createToolbox(
    [
      bashTool,
      createBashOutputTool(background),
      createKillShellTool(background),
      ...createFileTools(options, { runner, ripgrep: rg.kind === 'found' ? rg.path : undefined }),
      createNodeTool(options.nodes),
      createReadOutputTool(options.earlier),
      createTodoTool(),
      askUserTool,
      planAgentTool,
      taskTool,
      ...createWebTools(options, outputsOf(home)),
      createWatchTool({ book: options.watches, bash: bashTool }),
      ...createKnowledgeTools(options.knowledge, live),
      ...coordinatorTools(),
    ],
    guard,
    servers,
  );
  return {
    toolbox,
    servers,
    pollToolbox: createToolbox([createPolledBash(shell)], guard),
    runner,
    workspace: createWorkspace(
      { home, clock, searchWorkerUrl: options.assets.searchWorkerUrl, programs: { rg, git } },
      () => import('../gateway/loaded/loaded-services.ts'),
    ),
    notSandboxed: sandbox.kind === 'none' ? sandbox.reason : undefined,
    notices: [
      ...toNotices({ bash, rg }),
      ...(config.tools.sandbox === 'off' ? [SANDBOX_STAYS] : []),
      ...notices.map((text) => warn('sandbox_differs', text)),
    ],
  };
}

/** What tools that run commands work with. */
const toShell = (
  { home, environment, guard, ids, live, commandAudit: audit, background }: ToolOptions,
  runner: ProcessRunner,
): BashDependencies => ({
  runner,
  guard,
  outputs: outputsOf(home),
  ids,
  userHome: environment.HOME,
  live,
  audit,
  background,
});

/** What reads, finds and changes files. */
function createFileTools(
  { home, clock, assets, pdf, live }: Pick<ToolOptions, 'home' | 'clock' | 'assets' | 'pdf' | 'live'>,
  { runner, ripgrep }: { runner: ProcessRunner; ripgrep: string | undefined },
): Tool[] {
  const confinement = createConfinement({ home });
  const after = { runner, live };
  return [
    createReadFileTool({ confinement, pdf }),
    withDiagnostics(createWriteFileTool({ confinement }), after),
    withDiagnostics(createEditFileTool({ confinement }), after),
    withDiagnostics(createApplyPatchTool({ confinement }), after),
    withDiagnostics(createEditNotebookTool({ confinement }), after),
    createSearchTool({ confinement, clock, ripgrep, workerUrl: assets.searchWorkerUrl }),
    createGlobTool({ confinement, clock, workerUrl: assets.searchWorkerUrl }),
    createListDirectoryTool({ confinement }),
  ];
}

/** Reports installed programs that are not used. `headgate doctor` reports missing ones. */
const toNotices = (programs: Record<string, Program>): Notice[] =>
  Object.entries(programs).flatMap(([name, program]) =>
    program.kind === 'unsafe'
      ? [warn('program_unsafe', `${name} ${whyNot(program)}. Install it from your system's packages.`)]
      : [],
  );

const SANDBOX_STAYS = warn(
  'sandbox_off',
  'tools.sandbox is "off", which is read as "auto": commands run in the sandbox where it works.',
);

/** The folder of outputs that are too long to be shown in full. */
export const outputsOf = (home: string): string => path.join(home, 'outputs');
