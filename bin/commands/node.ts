import { hostname } from 'node:os';
import { systemClock } from '../../src/clock.ts';
import { toAllowance } from '../../src/gateway/nodes/command-policy.ts';
import { randomIds } from '../../src/ids.ts';
import { readVersion } from '../assets.ts';
import { toSocketUrl } from '../connect.ts';
import { openHomeFolder } from '../home-folder.ts';
import { createLog } from '../log.ts';
import { parseArgvPattern } from '../node-host/argv-pattern.ts';
import { createCommands } from '../node-host/commands.ts';
import { openFolders } from '../node-host/folders.ts';
import { runHost } from '../node-host/host.ts';
import { namesOf } from '../node-host/lent-command.ts';
import { openNodeState } from '../node-host/node-state.ts';
import { resolveFolder, resolveHome, type Surroundings } from '../options.ts';
import { StartError, UsageError } from '../start-error.ts';

export interface NodeRunFlags {
  gateway: string;
  name?: string;
  /** Patterns of programs with their arguments. */
  allow?: string[];
  folder?: string[];
  home?: string;
  /** Forget the token and ask anew. */
  pair?: boolean;
  /** Given by hand, after node.token.rotate. */
  token?: string;
}

interface NodeCommand {
  flags: NodeRunFlags;
  around: Surroundings;
  root: URL;
}

/** Lends this machine's commands to a gateway until a signal ends it. */
export async function runNode({ flags, around, root }: NodeCommand): Promise<void> {
  const { environment, cwd } = around;
  const gateway = toSocketUrl(flags.gateway);
  const home = resolveFolder(flags.home ?? (environment.HEADGATE_NODE_HOME || '~/.headgate-node'), around);
  const patterns = (flags.allow ?? []).map(toPattern);
  await openHomeFolder(home);
  const folders = await openLent(flags.folder ?? [], { around, homes: [home, resolveHome({}, around)] });
  const log = createLog({ level: 'warn', readable: process.stderr.isTTY });
  const shared = { clock: systemClock, log };
  const state = await openNodeState({ ...shared, home, ids: randomIds });
  const commands = createCommands({ ...shared, patterns, folders, startedIn: cwd, environment });
  const name = (flags.name ?? hostname()).slice(0, 128) || 'node';
  const names = namesOf(commands);
  if (flags.pair) await state.forget(gateway);
  if (flags.token !== undefined) await state.keep(gateway, { token: flags.token, commands: names });
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  say(`Node "${name}" (${state.nodeId}) for ${gateway}\nLends ${names.join(', ')}`);
  if (patterns.length > 0) say(`system.run works once the gateway’s config.json has ${toAllowance(state.nodeId)}`);
  const version = await readVersion(root);
  await runHost({ ...shared, gateway, name, version, commands, state, say }, untilSignal());
}

function toPattern(text: string) {
  const pattern = parseArgvPattern(text);
  if (pattern === undefined) {
    throw new UsageError(`--allow "${text}" must begin with the name of a program, such as "git status".`);
  }
  return pattern;
}

async function openLent(given: string[], { around, homes }: { around: Surroundings; homes: string[] }) {
  const paths = given.map((folder) => resolveFolder(folder, around));
  try {
    return await openFolders(paths, homes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`A folder cannot be lent: ${reason}`, { cause: error });
  }
}

function untilSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.once(signal, () => stopping.abort(new Error(`the node stops (${signal})`)));
  }
  return stopping.signal;
}
