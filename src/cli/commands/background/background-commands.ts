import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { ListFlags } from './background.ts';

interface BackgroundCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate background`, for the commands that agents have left running. */
export function addBackgroundCommands(program: Command, { root, around, withTarget }: BackgroundCommandsDeps): void {
  const background = program.command('background').description('see and end commands that run in the background');
  const load = () => import('./background.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(background, withTarget(background.command('list', { isDefault: true })))
    .description('list the commands of all loaded workstreams that run (the default command)')
    .option('--workstream <name>', 'only those of one workstream (name or id), also ended ones')
    .option('--json', 'print JSON')
    .action(async (flags: ListFlags) => (await load()).listCommands(on(flags)));
  withTarget(background.command('output'))
    .description('print the last 64 KiB of the output of a command')
    .argument('<command>', 'id of the command')
    .action(async (id: string, flags: TargetFlags) => (await load()).printOutput(id, on(flags)));
  withTarget(background.command('kill'))
    .description('end a command with everything that it has started')
    .argument('<command>', 'id of the command')
    .action(async (id: string, flags: TargetFlags) => (await load()).killCommand(id, on(flags)));
}
