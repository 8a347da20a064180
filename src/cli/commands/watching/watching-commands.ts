import { type Command, Option } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { FindFlags } from './find.ts';
import type { LogsFlags } from './logs.ts';
import type { TopFlags } from './top.ts';

interface WatchingCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate top`, `headgate find` and `headgate logs`. */
export function addWatchingCommands(program: Command, { root, around, withTarget }: WatchingCommandsDeps): void {
  withTarget(program.command('top'))
    .description('show live what runs, waits and failed, with tokens and cost')
    .option('--once', 'print it once; without a terminal, that is the default')
    .option('--interval <seconds>', 'how often it is read', '2')
    .option('--json', 'print one JSON object, once')
    .action(async (flags: TopFlags) => (await import('./top.ts')).top({ flags, around, root }));
  withTarget(program.command('find'))
    .description('find conversations by their names and titles, and messages by their words')
    .argument('<words...>', 'each of which has to be there; of messages, the beginning of a word is enough')
    .option('--limit <n>', 'how many conversations and how many messages', '20')
    .option('--workdir <folder>', 'only conversations that work in exactly this folder')
    .option('--json', 'print one JSON object')
    .action(async (words: string[], flags: FindFlags) =>
      (await import('./find.ts')).find(words, { flags, around, root }),
    );
  withTarget(program.command('logs'))
    .description('print the last lines of the daemon’s log')
    .option('-f, --follow', 'print new lines as they come, also after a restart of the daemon')
    .option('-n, --lines <n>', 'how many lines', '50')
    .addOption(
      new Option('--level <level>', 'only lines that are at least this important')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('debug'),
    )
    .option('--json', 'print the lines as they are, one JSON object each')
    .action(async (flags: LogsFlags) => (await import('./logs.ts')).logs({ flags, around, root }));
}
