import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../clock.ts';
import type { Connection } from '../../egress/proxy/egress-proxy.ts';
import type { Environment } from '../../environment.ts';
import type { ProcessRunner } from '../process/runner.ts';
import { decideHost, localPortsIn } from '../sandbox/network/host-rules.ts';
import { toWord } from '../tools/diagnostics/configured-command.ts';
import { type HeldFolder, holdFolder } from '../tools/files/held-folder.ts';
import { type NegotiationMode, openClientSession } from './client-session.ts';
import { ProcessLink } from './links/process-link.ts';
import { fillVariables, type ServerConfig } from './server-config.ts';
import type { Session, SessionOptions } from './session.ts';

export interface ProgramDeps {
  runner: ProcessRunner;
  environment: Environment;
  /** Each server has a folder of its own in it. */
  folder: string;
  /** A folder as written in the configuration. */
  toPath(folder: string): string;
  onConnection(server: string, connection: Connection): void;
  clean(text: string): string;
  clock: Clock;
  version: string;
}

/**
 * Starts the program of a server, in the sandbox with what its configuration declares, and opens a session with it. The
 * sandbox ends with the daemon, and what runs outside of it is ended by the next daemon at the latest, as with commands.
 */
export async function openProgram(
  { name, config, command }: { name: string; config: ServerConfig; command: string },
  options: SessionOptions,
  deps: ProgramDeps,
): Promise<Session> {
  const { runner, environment, clock, clean, version } = deps;
  if (config.sandbox && runner.sandbox.kind === 'none')
    throw new Error(`cannot run in the sandbox (${runner.sandbox.reason}); sandbox: false lets it run outside`);
  if (!config.sandbox && runner.sandbox.required)
    throw new Error('is configured to run outside the sandbox, but tools.sandbox is required');
  const variables = fillVariables(config.env, config, environment);
  if (typeof variables === 'string') throw new Error(`cannot be started: ${variables}`);
  const connect = () => {
    const link = new ProcessLink(
      async (hooks, dialogue) => {
        await using held = await holdFolders(name, config, deps);
        const [folder, ...others] = held.folders;
        if (!folder) throw new Error('its folder could not be opened');
        return await runner.run(
          {
            command: ['exec', ...[command, ...config.args].map(toWord)].join(' '),
            folder,
            timeoutMs: Number.POSITIVE_INFINITY,
            dialogue,
            isOutside: !config.sandbox,
            variables: { ...NETWORK_VARIABLES, ...variables },
            access: { others, areOthersReadOnly: !config.writesFolders, tier: 'workspace', writable: [] },
            network: toNetwork(name, config, deps),
          },
          // It ends with the daemon, in the sandbox or not. What is left of it ends with the next one.
          { ...hooks, onProcess: async () => undefined },
        );
      },
      { clock, clean },
    );
    return { transport: link, ended: link.ended, close: () => link.close() };
  };
  return openClientSession({ connect, modes: MODES, version }, options);
}

/** Servers of the revision without `initialize` refuse it, but older ones may end when they are asked in the new way. */
const MODES: readonly NegotiationMode[] = ['legacy', { pin: '2026-07-28' }];

/** Node uses the proxy only then. A server starts seldom, so its time does not matter. */
const NETWORK_VARIABLES = { NODE_USE_ENV_PROXY: '1' };

function toNetwork(name: string, { network }: ServerConfig, { onConnection }: ProgramDeps) {
  if (network.length === 0) return undefined;
  const seen = new Set<string>();
  return {
    localPorts: localPortsIn(network),
    decide: (target: Parameters<typeof decideHost>[1]) =>
      decideHost({ configured: network, registries: [], named: [] }, target),
    onConnection(connection: Connection) {
      const key = `${connection.outcome} ${connection.host} ${connection.port}`;
      if (seen.has(key) || seen.size >= MOST_CONNECTIONS) return;
      seen.add(key);
      onConnection(name, connection);
    },
  };
}

/** More hosts of one start are not recorded one by one. */
const MOST_CONNECTIONS = 100;

interface HeldFolders extends AsyncDisposable {
  folders: HeldFolder[];
}

/** Its own folder, and those that it declares. */
async function holdFolders(name: string, config: ServerConfig, { folder, toPath }: ProgramDeps): Promise<HeldFolders> {
  const own = path.join(folder, config.storedId ?? name);
  await mkdir(own, { recursive: true, mode: 0o700 });
  const folders: HeldFolder[] = [];
  const close = async () => {
    for (const held of folders) await held[Symbol.asyncDispose]();
  };
  try {
    folders.push(await holdFolder(await realpath(own)));
    for (const at of config.folders.map(toPath)) {
      const real = await realpath(at);
      // It was checked where it led when it was added.
      if (config.storedId !== undefined && real !== at) throw new Error(`cannot be started: ${at} leads elsewhere now`);
      folders.push(await holdFolder(real));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { folders, [Symbol.asyncDispose]: close };
}
