import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { Low } from 'lowdb';
import { z } from 'zod';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { OutputGuard } from '../../agent/guard/output-guard.ts';
import type { Accounts } from '../../agent/mcp/accounts/accounts.ts';
import { ConsentProblem } from '../../agent/mcp/accounts/consent-problem.ts';
import type { OpenedServer } from '../../agent/mcp/accounts/create-server.ts';
import type { ServerMemory } from '../../agent/mcp/known-servers.ts';
import { openProgram } from '../../agent/mcp/open-program.ts';
import { openRemote } from '../../agent/mcp/open-remote.ts';
import type { ServerConfig } from '../../agent/mcp/server-config.ts';
import type { Session, SessionOptions } from '../../agent/mcp/session.ts';
import { createToolServers, type ToolServers } from '../../agent/mcp/tool-servers.ts';
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
      offers: z.object({ resources: z.boolean(), prompts: z.boolean() }).optional(),
    }),
  ),
});

interface ServerParts {
  runner: ProcessRunner;
  /** Those of the configuration, and those that were added over the wire. */
  servers(): Readonly<Record<string, ServerConfig>>;
  outputs: string;
}

/** A server that was added over the wire runs outside the sandbox only as long as there is none. */
const inSandbox = (server: ServerConfig, { sandbox }: Pick<ProcessRunner, 'sandbox'>): ServerConfig =>
  server.storedId !== undefined && sandbox.kind !== 'none' ? { ...server, sandbox: true } : server;

/** The tool servers of the configuration and the database. None of them is started yet. */
export async function openToolServers(
  { home, userHome, environment, version, clock, ids, log, live, commandAudit, guard, accounts, fetch }: ServerOptions,
  { runner, servers, outputs }: ServerParts,
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
  const remote = { environment, fetch, clock, version };
  const open = ({ name, config: server, account }: OpenedServer, options: SessionOptions): Promise<Session> => {
    const { command, url } = server;
    if (command !== undefined)
      return openProgram({ name, config: inSandbox(server, runner), command }, options, programs);
    if (url !== undefined) return openRemote({ config: server, url, account }, options, remote);
    throw new Error('has neither a command nor an address');
  };
  return createToolServers({
    live: {
      get mcp() {
        return { servers: servers(), idleMinutes: live.mcp.idleMinutes };
      },
    },
    accounts,
    async open(server, options) {
      try {
        return await open(server, options);
      } catch (error) {
        if (error instanceof ConsentProblem) throw error; // nothing of it comes from others
        // What a server answered may repeat the headers of the request.
        throw new Error(guard.clean(wordsOf(error)), { cause: error });
      }
    },
    memory,
    guard,
    outputs,
    clock,
    ids,
    log,
  });
}
