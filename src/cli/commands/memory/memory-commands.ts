import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { ListMemoriesFlags, PlaceFlags, SaveMemoryFlags } from './memory.ts';

interface MemoryCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate memory`, for what agents keep beyond a conversation. */
export function addMemoryCommands(program: Command, { root, around, withTarget }: MemoryCommandsDeps): void {
  const memory = program
    .command('memory')
    .description('see, save and delete memories, and decide about those that wait');
  const load = () => import('./memory.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  const withPlace = (command: Command) =>
    withTarget(command)
      .option('--scope <scope>', 'global, workstream or user (default: global)')
      .option('--workstream <id>', 'the workstream, for the scope workstream');
  refuseUnknown(memory, withTarget(memory.command('list', { isDefault: true })))
    .description('list memories, the last saved first (the default command)')
    .option('--waiting', 'those that agents saved after untrusted content, and that nobody has looked at')
    .option('--search <words>', 'only those with all these words')
    .option('--json', 'print JSON')
    .action(async (flags: ListMemoriesFlags) => (await load()).listMemories(on(flags)));
  withPlace(memory.command('show'))
    .description('print the content of a memory')
    .argument('<name>', 'name of the memory, or the id of one that waits')
    .action(async (name: string, flags: PlaceFlags) => (await load()).showMemory(name, on(flags)));
  withPlace(memory.command('save'))
    .description('save a memory, or replace the one of this name')
    .argument('<name>', 'its name')
    .argument('<content>', 'what to remember')
    .option('--description <text>', 'what it is about, in one line')
    .option('--type <type>', 'user, project, feedback or reference (default: project)')
    .action(async (name: string, content: string, flags: SaveMemoryFlags) =>
      (await load()).saveMemory({ name, content }, on(flags)),
    );
  withPlace(memory.command('delete'))
    .description('delete a memory')
    .argument('<name>', 'name of the memory')
    .action(async (name: string, flags: PlaceFlags) => (await load()).deleteMemory(name, on(flags)));
  withTarget(memory.command('release'))
    .description('let agents find a memory that waits')
    .argument('<id>', 'id of the memory')
    .action(async (id: string, flags: TargetFlags) => (await load()).releaseMemory(id, on(flags)));
  withTarget(memory.command('discard'))
    .description('delete a memory that waits')
    .argument('<id>', 'id of the memory')
    .action(async (id: string, flags: TargetFlags) => (await load()).discardMemory(id, on(flags)));
}
