import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { WatchListFlags } from './watches.ts';

interface WatchCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate watch`, for the commands that are polled for agents. */
export function addWatchCommands(program: Command, { root, around, withTarget }: WatchCommandsDeps): void {
  const watch = program.command('watch').description('see and cancel watches, which poll commands for agents');
  const load = () => import('./watches.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(watch, withTarget(watch.command('list', { isDefault: true })))
    .description('list the active watches (the default command)')
    .option('--workstream <name>', 'only those of one workstream (name or id)')
    .option('--all', 'also those that have ended')
    .option('--json', 'print JSON')
    .action(async (flags: WatchListFlags) => (await load()).listWatches(on(flags)));
  withTarget(watch.command('cancel'))
    .description('cancel a watch, and its poll if one runs')
    .argument('<watch>', 'id of the watch')
    .action(async (id: string, flags: TargetFlags) => (await load()).cancelWatch(id, on(flags)));
}
