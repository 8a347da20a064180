import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { BackupFlags, RestoreFlags } from './backup.ts';

interface InstallationCommandsDeps {
  root: URL;
  around: Surroundings;
}

/** Adds `headgate backup` and `headgate restore`. */
export function addInstallationCommands(program: Command, { root, around }: InstallationCommandsDeps): void {
  const load = () => import('./backup.ts');
  program
    .command('backup')
    .description('write everything in the home folder into one archive, also while the daemon runs')
    .argument('[target]', 'new file, or a folder for one whose name is the time (default: the current folder)')
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
}
