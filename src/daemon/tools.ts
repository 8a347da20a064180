import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type Notice, warn } from '../../protocol/notice.ts';
import { type Program, whyNot } from '../agent/process/programs.ts';
import { createProcessRunner, type ProcessRunner } from '../agent/process/runner.ts';
import { detectSandbox } from '../agent/process/sandbox.ts';
import { createSandboxedCommands } from '../agent/process/sandboxed-commands.ts';
import { createSandboxedPeers, type IsSandboxedPeer } from '../agent/process/sandboxed-peers.ts';
import { createBashTool } from '../agent/tools/bash.ts';
import { createEditFileTool } from '../agent/tools/edit-file.ts';
import { createConfinement } from '../agent/tools/files/confinement.ts';
import { createListDirectoryTool } from '../agent/tools/list-directory.ts';
import { createNodeTool, type NodeDirectory } from '../agent/tools/node.ts';
import { createReadFileTool } from '../agent/tools/read-file.ts';
import { createReadOutputTool, type OutputSource } from '../agent/tools/read-output.ts';
import { createSearchTool } from '../agent/tools/search.ts';
import { createToolbox, type Toolbox } from '../agent/tools/toolbox.ts';
import { createWriteFileTool } from '../agent/tools/write-file.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { findPrograms } from './programs.ts';

type ToolOptions = Pick<DaemonOptions, 'home' | 'environment' | 'clock' | 'ids' | 'config' | 'assets' | 'log'> & {
  nodes: NodeDirectory;
  /** The outputs of earlier calls. */
  earlier: OutputSource;
  live: { readonly commandTimeoutSecs: number };
  /** The default working directory of workstreams. */
  workdir: string;
};

interface Tools {
  toolbox: Toolbox;
  runner: ProcessRunner;
  notSandboxed: string | undefined;
  isSandboxedPeer: IsSandboxedPeer;
  /** For the person who starts the daemon. */
  notices: Notice[];
}

/** The agent's tools and their runner, which also cleans up after the previous daemon: the home must be locked. */
export async function createTools(options: ToolOptions): Promise<Tools> {
  const { home, environment, clock, ids, config, assets, live, log } = options;
  const workdirs = [await realpath(options.workdir)];
  const programs = await findPrograms({ environment, avoid: workdirs });
  const { bash, rg } = programs;
  const sandbox = await detectSandbox({ mode: config.tools.sandbox, home, environment, clock, programs });
  const commands = createSandboxedCommands(clock);
  const runner = createProcessRunner({
    home: await realpath(home),
    environment,
    sandbox,
    sandboxed: commands,
    bash,
    workdirs,
    clock,
    ids,
  });
  const strays = await runner.killStrays();
  if (strays > 0) log.warn({ strays }, 'ended processes that commands of the previous daemon had left behind');
  const confinement = createConfinement({ home });
  const ripgrep = rg.kind === 'found' ? rg.path : undefined;
  const toolbox = createToolbox([
    createBashTool({ runner, outputs: outputsOf(home), ids, userHome: environment.HOME, live }),
    createReadFileTool({ confinement }),
    createWriteFileTool({ confinement }),
    createEditFileTool({ confinement }),
    createSearchTool({ confinement, clock, ripgrep, workerUrl: assets.searchWorkerUrl }),
    createListDirectoryTool({ confinement }),
    createNodeTool(options.nodes),
    createReadOutputTool(options.earlier),
  ]);
  return {
    toolbox,
    runner,
    notSandboxed: sandbox.kind === 'none' ? sandbox.reason : undefined,
    isSandboxedPeer: createSandboxedPeers({ commands, uid: process.geteuid?.() ?? 0 }),
    notices: toNotices({ bash, rg }),
  };
}

/** Reports installed programs that are not used. `headgate doctor` reports missing ones. */
const toNotices = (programs: Record<string, Program>): Notice[] =>
  Object.entries(programs).flatMap(([name, program]) =>
    program.kind === 'unsafe'
      ? [warn('program_unsafe', `${name} ${whyNot(program)}. Install it from your system's packages.`)]
      : [],
  );

/** The folder of outputs that are too long to be shown in full. */
export const outputsOf = (home: string): string => path.join(home, 'outputs');
