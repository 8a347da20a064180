import type { Command } from 'commander';

/** What can be typed after one command. */
export interface CommandWords {
  /** The command with those before it, joined by slashes: `headgate/cron/add`. */
  path: string;
  commands: readonly Described[];
  options: readonly OptionWords[];
  /** The values of its first argument, if only some are possible. */
  values: readonly string[];
}

interface Described {
  name: string;
  summary: string;
}

export interface OptionWords {
  /** Such as `-h` and `--help`. */
  flags: readonly string[];
  summary: string;
  /** `choices`: one of them follows; without any, some other value does. Undefined: nothing follows. */
  choices: readonly string[] | undefined;
}

const HELP: OptionWords = { flags: ['-h', '--help'], summary: 'show the help', choices: undefined };

/** The words of a program and of all its subcommands, the program first. */
export function toCommandWords(command: Command, before = ''): CommandWords[] {
  const path = before === '' ? command.name() : `${before}/${command.name()}`;
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ short, long, description, argChoices, required, optional }) => ({
      flags: [short, long].filter((flag) => flag !== undefined),
      summary: description,
      choices: required || optional ? (argChoices ?? []) : undefined,
    }));
  const own: CommandWords = {
    path,
    commands: command.commands.map((each) => ({ name: each.name(), summary: each.description() })),
    options: [...options, HELP],
    values: command.registeredArguments[0]?.argChoices ?? [],
  };
  return [own, ...command.commands.flatMap((each) => toCommandWords(each, path))];
}
