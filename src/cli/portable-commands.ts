import type { Command } from 'commander';
import type { Surroundings } from '../home/home-path.ts';
import type { ExportFlags, ImportFlags } from './commands/portable.ts';

interface PortableCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate export` and `headgate import`. */
export function addPortableCommands(program: Command, { root, around, withTarget }: PortableCommandsDeps): void {
  const load = () => import('./commands/portable.ts');
  withTarget(program.command('export'))
    .description('print a conversation as a file that headgate import reads')
    .argument('<workstream>', 'a name, a session key, an id or its beginning, such as main')
    .option('--markdown', 'print it as Markdown for people; this cannot be imported')
    .option('--output <file>', 'write to a new file (default: stdout)')
    .action(async (name: string, flags: ExportFlags) =>
      (await load()).exportConversation(name, { flags, around, root }),
    );
  withTarget(program.command('import'))
    .description('continue an exported conversation in a new workstream')
    .argument('<file>', 'file that headgate export wrote; - stands for stdin')
    .option('--name <name>', 'name of the workstream (default: the name in the file)')
    .option('--workdir <folder>', 'folder the agent works in')
    .option('--model <name>', 'model (default: the model in the file)')
    .option('--json', 'print one JSON object')
    .action(async (file: string, flags: ImportFlags) =>
      (await load()).importConversation(file, { flags, around, root }),
    );
}
