import { hostname } from 'node:os';
import { systemTimers } from '../../protocol/client/timers.ts';
import { whyNot } from '../agent/process/programs.ts';
import { systemClock } from '../clock.ts';
import { openHomeFolder } from '../home/home-folder.ts';
import { resolveFolder, resolveHome, type Surroundings } from '../home/home-path.ts';
import { whyUnreadable } from '../home/why-unreadable.ts';
import { randomIds } from '../ids.ts';
import { toAllowance } from '../lending/command-policy.ts';
import type { Log } from '../log.ts';
import { createLog } from '../pino-log.ts';
import { StartError, UsageError } from '../start-error.ts';
import { readVersion } from '../version.ts';
import { parseArgvPattern } from './argv-pattern.ts';
import { createCommands } from './commands.ts';
import { openFolders } from './folders.ts';
import { runHost } from './host.ts';
import { namesOf } from './lent-command.ts';
import { findLentPrograms } from './lent-programs.ts';
import { openNodeState } from './node-state.ts';
import { toSocketUrl } from './socket-url.ts';

export interface NodeRunFlags {
  gateway: string;
  name?: string;
  /** Patterns of programs with their arguments. */
  allow?: string[];
  folder?: string[];
  home?: string;
  /** Forget the token and pair again. */
  pair?: boolean;
  /** Such as one from node.token.rotate. */
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
  const clock = systemClock;
  const state = await openNodeState({ home, ids: randomIds, clock, log });
  const programs = await findLentPrograms(patterns, {
    environment,
    avoid: folders.all,
    startedIn: cwd,
    uid: process.getuid?.(),
    platform: process.platform,
  });
  const commands = createCommands({ patterns, folders, startedIn: cwd, environment, programs, clock });
  const name = (flags.name ?? hostname()).slice(0, 128) || 'node';
  const names = namesOf(commands);
  if (flags.pair) await state.forget(gateway);
  if (flags.token !== undefined) await state.keep(gateway, { token: flags.token, commands: names });
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  say(`Node "${name}" (${state.nodeId}) for ${gateway}\nLends ${names.join(', ')}`);
  for (const [program, found] of programs) {
    if (found.kind !== 'found') say(`${program} cannot run: it ${whyNot(found)}. Give its full path, or install it.`);
  }
  if (patterns.length > 0) say(`If the gateway refuses system.run, its config.json needs ${toAllowance(state.nodeId)}`);
  const version = await readVersion(root);
  using life = beginLife(log);
  const processId = randomIds.id('proc');
  await runHost({ gateway, name, version, processId, commands, state, clock, log, say }, life.signal);
  life.throwFault();
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
    const place = error instanceof Error && 'path' in error ? error.path : paths.join(', ');
    throw new StartError(`--folder ${place} cannot be lent: ${whyUnreadable(error)}.`, { cause: error });
  }
}

const DAY_MS = 86_400_000;

/** Ends at a signal or an unhandled fault: then the node stops in order, so that no program outlives it. */
function beginLife(log: Log) {
  const ending = new AbortController();
  const faults: unknown[] = [];
  // A second Ctrl-C must not interrupt the shutdown that the first one started; it takes seconds at most.
  const onSignal = (signal: string) => ending.abort(new Error(`the node stops (${signal})`));
  const onFault = (fault: unknown) => {
    if (faults.push(fault) > 1) log.error({ err: fault }, 'an error while the node stops');
    ending.abort(new Error('the node stops (a fault)'));
  };
  let letSleep: () => void = () => undefined;
  const stayAwake = () => {
    letSleep = systemTimers.after(DAY_MS, stayAwake); // a timer of the clock does not keep the process alive
  };
  stayAwake();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  for (const event of FAULTS) process.on(event, onFault);
  return {
    signal: ending.signal,
    throwFault() {
      if (faults.length > 0) throw faults[0];
    },
    [Symbol.dispose]() {
      letSleep();
      for (const signal of SIGNALS) process.off(signal, onSignal);
      for (const event of FAULTS) process.off(event, onFault);
    },
  };
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
const FAULTS = ['uncaughtException', 'unhandledRejection'] as const;
