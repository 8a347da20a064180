import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import type { DrainFlags } from './drain.ts';
import type { ClusterFlags } from './show-cluster.ts';

interface ClusterCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate cluster` and `headgate drain`. */
export function addClusterCommands(program: Command, { root, around, withTarget }: ClusterCommandsDeps): void {
  const cluster = program.command('cluster').description('the daemons that share a PostgreSQL store');
  withTarget(cluster.command('status', { isDefault: true }))
    .description('list the active daemon, its workers, and those that wait to take over (the default command)')
    .option('--json', 'print one JSON object')
    .action(async (flags: ClusterFlags & TargetFlags) =>
      (await import('./show-cluster.ts')).showCluster({ flags, around, root }),
    );
  withTarget(cluster.command('move'))
    .description('move an idle workstream to another machine that has its folder, too')
    .argument('<workstream>', 'its name, id, or the beginning of its id')
    .argument('<node>', 'the id of the machine, as `headgate cluster status` shows it')
    .option('--json', 'print one JSON object')
    .action(async (workstream: string, node: string, flags: ClusterFlags & TargetFlags) =>
      (await import('./move-workstream.ts')).moveWorkstream({ flags, around, root, workstream, node }),
    );
  program
    .command('drain')
    .description('let a standby take over from the active daemon of this home')
    .option('--home <folder>', 'home folder of the daemon (HEADGATE_HOME; default ~/.headgate)')
    .action(async (flags: DrainFlags) => (await import('./drain.ts')).drain({ flags, around, root }));
}
