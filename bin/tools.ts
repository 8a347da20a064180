import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { createProcessRunner, type ProcessRunner } from '../src/agent/process/runner.ts';
import { detectSandbox } from '../src/agent/process/sandbox.ts';
import { createBashTool } from '../src/agent/tools/bash.ts';
import { createConfinement } from '../src/agent/tools/confinement.ts';
import { createEditFileTool } from '../src/agent/tools/edit-file.ts';
import { createListDirectoryTool } from '../src/agent/tools/list-directory.ts';
import { createNodeTool, type NodeDirectory } from '../src/agent/tools/node.ts';
import { createReadFileTool } from '../src/agent/tools/read-file.ts';
import { createSearchTool } from '../src/agent/tools/search.ts';
import { findRipgrep } from '../src/agent/tools/search-ripgrep.ts';
import { createToolbox, type Toolbox } from '../src/agent/tools/toolbox.ts';
import { createWriteFileTool } from '../src/agent/tools/write-file.ts';
import type { DaemonOptions } from './compose.ts';

type ToolOptions = Pick<DaemonOptions, 'home' | 'environment' | 'clock' | 'ids' | 'config' | 'assets' | 'log'> & {
  nodes: NodeDirectory;
  live: { readonly commandTimeoutSecs: number };
};

/** The agent's tools, and the runner that also cleans up after the last daemon: the home has to be locked by now. */
export async function createTools(
  options: ToolOptions,
): Promise<{ toolbox: Toolbox; runner: ProcessRunner; notSandboxed: string | undefined }> {
  const { home, environment, clock, ids, config, assets, live, log } = options;
  const sandbox = await detectSandbox({ mode: config.tools.sandbox, home, environment, clock });
  const runner = createProcessRunner({ clock, environment, sandbox, ids, home: await realpath(home) });
  const strays = await runner.killStrays();
  if (strays > 0) log.warn({ strays }, 'ended processes that commands of the last daemon had left');
  const confinement = createConfinement({ home });
  const ripgrep = await findRipgrep(environment);
  const toolbox = createToolbox([
    createBashTool({ runner, outputs: outputsOf(home), ids, live }),
    createReadFileTool({ confinement }),
    createWriteFileTool({ confinement }),
    createEditFileTool({ confinement }),
    createSearchTool({ confinement, clock, ripgrep, workerUrl: assets.searchWorkerUrl }),
    createListDirectoryTool({ confinement }),
    createNodeTool(options.nodes),
  ]);
  return { toolbox, runner, notSandboxed: sandbox.kind === 'none' ? sandbox.reason : undefined };
}

/** Where outputs lie that are too long to be shown whole. */
export const outputsOf = (home: string): string => path.join(home, 'outputs');
