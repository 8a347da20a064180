import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { DiscardFlags, UndoFlags } from './changes.ts';

interface ChangeCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate undo`, `redo` and `discard`, which change files of a workstream. */
export function addChangeCommands(program: Command, { root, around, withTarget }: ChangeCommandsDeps): void {
  const load = () => import('./changes.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  const inWorkstream = (name: string, description: string) =>
    withTarget(program.command(name))
      .description(description)
      .option('--workstream <name>', 'the workstream (name or id; default main)');
  const taking = (name: 'undo' | 'redo', description: string) =>
    inWorkstream(name, description)
      .option('--file <path>', 'only this file of one run')
      .option('--run <id>', 'the run; without --file, all runs as far as this one')
      .option('--keep', 'leave files alone that somebody has changed since')
      .option('--overwrite', 'replace files that somebody has changed since')
      .action(async (flags: UndoFlags) => (await load()).change(name, on(flags)));
  taking('undo', 'take back what the last run changed on disk');
  taking('redo', 'bring back what an undo took back');
  inWorkstream('discard', 'put a file back to what the last commit of git has')
    .argument('<path>', 'the file, relative to the working directory of the workstream')
    .option('--yes', 'do not ask')
    .action(async (path: string, flags: DiscardFlags) => (await load()).discard(path, on(flags)));
}
