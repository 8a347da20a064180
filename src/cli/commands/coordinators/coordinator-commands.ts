import { Argument, type Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { CloseFlags, CoordinatorFlags, CreateFlags } from './coordinator.ts';

interface CoordinatorCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate coordinator`, for workstreams that have others work for them. */
export function addCoordinatorCommands(program: Command, { root, around, withTarget }: CoordinatorCommandsDeps): void {
  const coordinator = program
    .command('coordinator')
    .description('make, see, trust, restrict and stop workstreams that have others work for them');
  const load = () => import('./coordinator.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  const about = (name: string, description: string) =>
    withTarget(coordinator.command(name))
      .description(description)
      .argument('<coordinator>', 'its name, its id or the beginning of it');
  refuseUnknown(coordinator, withTarget(coordinator.command('list', { isDefault: true })))
    .description('list the coordinators that are not closed (the default command)')
    .option('--json', 'print JSON')
    .action(async (flags: CoordinatorFlags) => (await load()).listCoordinators(on(flags)));
  withTarget(coordinator.command('create'))
    .description('make a coordinator and print its id')
    .argument('[name]', 'what it is called in lists')
    .option('--message <text>', 'its first message')
    .option('--parent <coordinator>', 'the coordinator that it works for')
    .option('--workdir <folder>', 'folder that it and its workstreams work in')
    .option('--model <name>', 'its model')
    .action(async (name: string | undefined, flags: CreateFlags) => (await load()).createCoordinator(name, on(flags)));
  about('children', 'list the workstreams that it made')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: CoordinatorFlags) => (await load()).listChildren(name, on(flags)));
  about('tasks', 'list its tasks')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: CoordinatorFlags) => (await load()).listTasks(name, on(flags)));
  about('metrics', 'show figures of its workstreams, its waits and its judge')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: CoordinatorFlags) => (await load()).showMetrics(name, on(flags)));
  about('trust', 'let its messages to the workstreams below it go without asking, or not')
    .addArgument(new Argument('<switch>', 'whether they do').choices(['on', 'off']))
    .action(async (name: string, to: string, flags: TargetFlags) => (await load()).trust(name, to === 'on', on(flags)));
  about('restrict', 'take tools away from it and everything below it, for good')
    .argument('<tools...>', 'names of tools, such as bash')
    .action(async (name: string, tools: string[], flags: TargetFlags) =>
      (await load()).restrict(name, tools, on(flags)),
    );
  about('stop', 'cancel what it and the workstreams that it made do now').action(
    async (name: string, flags: TargetFlags) => (await load()).stop(name, on(flags)),
  );
  about('close', 'close the workstreams that it made')
    .option('--reason <text>', 'why, for the audit trail')
    .action(async (name: string, flags: CloseFlags) => (await load()).closeChildren(name, on(flags)));
}
