import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../../../exit-codes.ts';
import { resolveHome, type Surroundings } from '../../../home/home-path.ts';
import { StartError, UsageError } from '../../../start-error.ts';
import { findUser, type User } from '../../service/find-user.ts';
import { installService, readServiceStatus, runCommand, uninstallService } from '../../service/install-service.ts';
import { launchd } from '../../service/launchd.ts';
import type { ServiceManager, ServicePlan } from '../../service/service.ts';
import { systemd } from '../../service/systemd.ts';

export interface ServiceFlags {
  home?: string;
  system?: boolean;
  as?: string;
  dryRun?: boolean;
  json?: boolean;
}

export interface ServiceCommand {
  flags: ServiceFlags;
  around: Surroundings;
  root: URL;
}

/** Installs the daemon as a service of the operating system and starts it. */
export async function install(command: ServiceCommand): Promise<void> {
  const { flags } = command;
  const { around } = command;
  const name = nameOf(command);
  if (flags.system && !name) throw new UsageError('Name the user that the service runs as with --as.');
  const manager = toManager(flags, around);
  const plan = await toPlan(command, name);
  if (flags.dryRun) {
    const commands = [...manager.unload, ...manager.activate].map((words) => words.join(' '));
    say([`# ${manager.file}`, manager.toText(plan), '# Then:', ...commands]);
    return;
  }
  requireRoot(flags);
  await installService({ manager, plan }, runCommand);
  say([`The service is installed and started: ${manager.file}`, ...manager.hints]);
}

/** Stops the service and removes it. */
export async function uninstall({ flags, around }: ServiceCommand): Promise<void> {
  requireRoot(flags);
  await uninstallService(toManager(flags, around), runCommand);
  say(['The service is removed. The home folder and its data stay.']);
}

/** Shows whether the service is installed and runs. Exit code 3 if it does not run. */
export async function status(command: ServiceCommand): Promise<void> {
  const { flags, around } = command;
  const name = nameOf(command);
  const plan = flags.system && !name ? undefined : await toPlan(command, name);
  const found = await readServiceStatus({ manager: toManager(flags, around), plan }, runCommand);
  const { file, isInstalled, isCurrent, isRunning } = found;
  const state = isRunning ? 'running' : 'not running';
  if (flags.json) say([JSON.stringify(found, null, 2)]);
  else if (!isInstalled) say([`not installed (${file})`]);
  else
    say([
      `${state} (${file})`,
      ...(isCurrent !== false
        ? []
        : ['The file is not the one of this version and these options. To update it, install it again.']),
    ]);
  if (!isRunning) process.exitCode = EXIT.noDaemon;
}

const say = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);

/** The user of a service of the machine: never root unless it is named. */
const nameOf = ({ flags, around }: ServiceCommand): string | undefined =>
  flags.system ? flags.as || around.environment.SUDO_USER : undefined;

async function toPlan({ flags, around, root }: ServiceCommand, name: string | undefined): Promise<ServicePlan> {
  const person = name ? await findUser(name, process.platform) : undefined;
  return {
    command: [process.execPath, fileURLToPath(new URL('bin/headgate.js', root)), 'start'],
    home: resolveHome(flags, toSurroundings(around, person)),
    user: person?.name,
  };
}

const toSurroundings = (around: Surroundings, person: User | undefined): Surroundings =>
  person === undefined ? around : { environment: {}, userHome: person.userHome, cwd: around.cwd };

function toManager({ system = false }: ServiceFlags, { environment, userHome }: Surroundings): ServiceManager {
  if (process.platform === 'darwin') {
    return system
      ? launchd({ folder: '/Library/LaunchDaemons', log: '/Library/Logs/headgate.log', uid: undefined })
      : launchd({
          folder: path.join(userHome, 'Library/LaunchAgents'),
          log: path.join(userHome, 'Library/Logs/headgate.log'),
          uid: process.getuid?.(),
        });
  }
  if (process.platform !== 'linux') throw new StartError(`Services are not supported on ${process.platform}.`);
  const config = environment.XDG_CONFIG_HOME || path.join(userHome, '.config');
  return systemd({ folder: system ? '/etc/systemd/system' : path.join(config, 'systemd/user'), isSystem: system });
}

function requireRoot({ system }: ServiceFlags): void {
  if (system && process.getuid?.() !== 0)
    throw new StartError('A service of the machine needs root. Use sudo, or leave out --system.');
}
