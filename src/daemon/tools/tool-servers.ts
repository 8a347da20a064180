import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { Low } from 'lowdb';
import { z } from 'zod';
import type { OutputGuard } from '../../agent/guard/output-guard.ts';
import type { Accounts } from '../../agent/mcp/accounts/accounts.ts';
import { openProgram } from '../../agent/mcp/open-program.ts';
import { openRemote } from '../../agent/mcp/open-remote.ts';
import { createToolServers, type ServerMemory, type ToolServers } from '../../agent/mcp/tool-servers.ts';
import type { ProcessRunner } from '../../agent/process/runner.ts';
import type { CommandAudit } from '../../agent/tools/shell/bash-arguments.ts';
import { resolveFolder } from '../../home/home-path.ts';
import { jsonDocument } from '../../home/json-document.ts';
import type { LiveConfig } from '../config/live-config.ts';
import type { DaemonOptions } from '../daemon-options.ts';

type ServerOptions = Pick<DaemonOptions, 'home' | 'userHome' | 'environment' | 'version' | 'clock' | 'ids' | 'log'> & {
  live: Pick<LiveConfig, 'mcp'>;
  commandAudit: CommandAudit;
  /** The daemon's own requests. */
  fetch: typeof fetch;
  guard: OutputGuard;
  accounts: Accounts;
};

const Announced = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  digest: z.string(),
});

/** The file `tool-servers.json` of the home. */
const Memory = z.object({
  servers: z.record(
    z.string(),
    z.object({
      config: z.string(),
      tools: z.array(Announced.extend({ isGone: z.literal(true).optional(), changed: Announced.optional() })),
    }),
  ),
});

/** The tool servers of the configuration. None of them is started yet. */
export async function openToolServers(
  { home, userHome, environment, version, clock, ids, log, live, commandAudit, guard, accounts, fetch }: ServerOptions,
  { runner, outputs }: { runner: ProcessRunner; outputs: string },
): Promise<ToolServers> {
  const file = jsonDocument<ServerMemory>({
    path: path.join(home, 'tool-servers.json'),
    parse: (value) => Memory.parse(value),
    clock,
    log,
  });
  const memory = new Low<ServerMemory>(file, { servers: {} });
  await memory.read();
  const programs = {
    runner,
    environment,
    folder: path.join(await realpath(home), 'tool-servers'),
    toPath: (folder: string) => resolveFolder(folder, { userHome, cwd: home }),
    onConnection: (server: string, connection: Parameters<CommandAudit['onConnection']>[0]) =>
      commandAudit.onConnection({ ...connection, host: guard.clean(connection.host), wsId: '', callId: server }),
    clean: guard.clean,
    clock,
    version,
  };
  const remote = { environment, fetch, version };
  return createToolServers({
    live,
    accounts,
    async open({ name, config: server, account }, options) {
      const { command, url } = server;
      if (command !== undefined) return openProgram({ name, config: server, command }, options, programs);
      if (url !== undefined) return openRemote({ config: server, url, account }, options, remote);
      throw new Error('has neither a command nor an address');
    },
    memory,
    guard,
    outputs,
    clock,
    ids,
    log,
  });
}
