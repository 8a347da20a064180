import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../../../exit-codes.ts';
import { resolveHome, type Surroundings } from '../../../home/home-path.ts';
import { StartError, UsageError } from '../../../start-error.ts';
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
  const service = await toService(command);
  const { manager, plan } = service;
  if (flags.dryRun) {
    const commands = manager.activate.map((words) => words.join(' '));
    say([`# ${manager.file}`, manager.toText(plan), '# Then:', ...commands]);
    return;
  }
  requireRoot(flags);
  await installService(service, runCommand);
  say([`The service is installed and started: ${manager.file}`, ...manager.hints]);
}

/** Stops the service and removes it. */
export async function uninstall(command: ServiceCommand): Promise<void> {
  requireRoot(command.flags);
  const { manager, plan } = await toService(command);
  await uninstallService(manager, runCommand);
  say([`The service is removed. The home folder ${plan.home} and its data stay.`]);
}

/** Shows whether the service is installed and runs. Exit code 3 if it does not run. */
export async function status(command: ServiceCommand): Promise<void> {
  const service = await toService(command);
  const found = await readServiceStatus(service, runCommand);
  const { file, isInstalled, isCurrent, isRunning } = found;
  const state = isRunning ? 'running' : 'not running';
  if (command.flags.json) say([JSON.stringify(found, null, 2)]);
  else if (!isInstalled) say([`not installed (${file})`]);
  else
    say([
      `${state} (${file})`,
      ...(isCurrent
        ? []
        : ['The file is not the one of this version and these options. To update it, install it again.']),
    ]);
  if (!isRunning) process.exitCode = EXIT.noDaemon;
}

const say = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);

async function toService({
  flags,
  around,
  root,
}: ServiceCommand): Promise<{ manager: ServiceManager; plan: ServicePlan }> {
  const person = flags.system ? await findPerson(flags, around) : undefined;
  const userHome = person?.userHome ?? around.userHome;
  const environment = person === undefined ? around.environment : {};
  const home = resolveHome(flags, { environment, userHome, cwd: around.cwd });
  const command = [process.execPath, fileURLToPath(new URL('bin/headgate.js', root)), 'start'];
  return { manager: toManager(flags, around), plan: { command, home, user: person?.name } };
}

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

/** The user that a service of the machine runs as: never root unless it is named. */
async function findPerson({ as }: ServiceFlags, { environment }: Surroundings) {
  const name = as ?? environment.SUDO_USER;
  if (!name) throw new UsageError('Name the user that the service runs as with --as.');
  const users = await readFile('/etc/passwd', 'utf8');
  const fields = users
    .split('\n')
    .map((line) => line.split(':'))
    .find(([each]) => each === name);
  if (fields?.[5] === undefined) throw new UsageError(`There is no user ${name} in /etc/passwd.`);
  return { name, userHome: fields[5] };
}
