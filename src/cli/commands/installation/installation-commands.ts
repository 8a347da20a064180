import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { BackupFlags, RestoreFlags } from './backup.ts';
import type { RestartFlags } from './restart.ts';
import type { ServiceFlags } from './service.ts';
import type { UpgradeFlags } from './upgrade.ts';

interface InstallationCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate backup`, `headgate restore`, `headgate service`, `headgate upgrade` and `headgate restart`. */
export function addInstallationCommands(
  program: Command,
  { root, around, withTarget }: InstallationCommandsDeps,
): void {
  const load = () => import('./backup.ts');
  program
    .command('backup')
    .description('write everything in the home folder into one archive, also while the daemon runs')
    .argument('[target]', 'new file, or a folder for one whose name is the time (default: backups/ in the home folder)')
    .option('--home <folder>', 'home folder (HEADGATE_HOME; default ~/.headgate)')
    .option('--json', 'print one JSON object')
    .action(async (target: string | undefined, flags: BackupFlags) =>
      (await load()).backup(target, { flags, around, root }),
    );
  program
    .command('restore')
    .description('replace the home folder by a backup; the daemon must be stopped')
    .argument('<archive>', 'file that headgate backup wrote')
    .option('--check', 'only verify the archive; changes nothing')
    .option('--home <folder>', 'home folder (HEADGATE_HOME; default ~/.headgate)')
    .option('--json', 'print one JSON object')
    .action(async (archive: string, flags: RestoreFlags) => (await load()).restore(archive, { flags, around }));
  addServiceCommands(program, { root, around });
  program
    .command('upgrade')
    .description('find out whether there is a newer version, and how to install it')
    .option('--check', 'ask the registry of npm; changes nothing')
    .option('--registry <address>', 'another registry (npm_config_registry)')
    .option('--json', 'print one JSON object')
    .action(async (flags: UpgradeFlags) => (await import('./upgrade.ts')).upgrade({ flags, around, root }));
  withTarget(program.command('restart'))
    .description('let the installed program take over from the running daemon; no connection is refused meanwhile')
    .option('--check', 'only find out whether it could; changes nothing')
    .option('--json', 'print one JSON object')
    .action(async (flags: RestartFlags) => (await import('./restart.ts')).restart({ flags, around, root }));
}

function addServiceCommands(program: Command, { root, around }: Omit<InstallationCommandsDeps, 'withTarget'>): void {
  const service = program.command('service').description('run the daemon as a service of systemd or launchd');
  const load = () => import('./service.ts');
  withPlace(service.command('install'))
    .description('install the service, or update it, and start it')
    .option('--dry-run', 'print what would be written and run; changes nothing')
    .action(async (flags: ServiceFlags) => (await load()).install({ flags, around, root }));
  withPlace(service.command('uninstall'))
    .description('stop the service and remove it; the home folder stays')
    .action(async (flags: ServiceFlags) => (await load()).uninstall({ flags, around, root }));
  withPlace(service.command('status'))
    .description('show whether the service is installed and runs')
    .option('--json', 'print one JSON object')
    .action(async (flags: ServiceFlags) => (await load()).status({ flags, around, root }));
}

const withPlace = (command: Command): Command =>
  command
    .option('--system', 'a service of the machine, as root, instead of one of yours')
    .option('--as <user>', 'user that a service of the machine runs as (default: who called sudo)')
    .option('--home <folder>', 'home folder of the daemon (HEADGATE_HOME; default ~/.headgate)');
