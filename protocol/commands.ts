/** One slash command, as people are told of it. */
interface SlashCommand {
  /** What it takes after its name; optional in brackets. */
  argument?: string;
  summary: string;
}

const rows = {
  help: { summary: 'What can be typed here.' },
  clear: { summary: 'Empty the screen and the context; what was said stays stored.' },
  new: { summary: 'Start afresh; the conversation so far is kept as a saved one.' },
  model: { argument: '[ALIAS]', summary: 'Show the models, or switch this workstream to one.' },
  resume: {
    argument: 'NAME',
    summary: 'Copy a saved conversation into this one (name, id or the beginning of an id).',
  },
  name: { argument: 'NAME', summary: 'Name this workstream.' },
} satisfies Record<string, SlashCommand>;

/** A slash command without its slash. */
export type CommandName = keyof typeof rows;

/** The slash commands of a conversation. `workstream.command` runs them, clients offer them while somebody types. */
export const COMMANDS: Record<CommandName, SlashCommand> = rows;

/** Whether the word, without its slash, is a command. */
export const isCommandName = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

/** How it is typed: `/name NAME`. */
export const usageOf = (name: CommandName): string => [`/${name}`, COMMANDS[name].argument].filter(Boolean).join(' ');

/** The command that a mistyped word was probably meant to be: it begins it, or is one slip of a finger away. */
export function findNearestCommand(word: string): CommandName | undefined {
  const names = Object.keys(COMMANDS).filter(isCommandName);
  const typed = word.toLowerCase();
  return (
    names.find((name) => typed !== '' && name.startsWith(typed)) ?? names.find((name) => isOneSlipAway(typed, name))
  );
}

/** A letter too much, too few or wrong, or two neighbours swapped. */
function isOneSlipAway(typed: string, name: string): boolean {
  let start = 0;
  while (start < typed.length && typed[start] === name[start]) start += 1;
  const [rest, wanted] = [typed.slice(start), name.slice(start)];
  const swapped = `${rest[1] ?? ''}${rest[0] ?? ''}${rest.slice(2)}`;
  return (
    rest.slice(1) === wanted.slice(1) ||
    rest.slice(1) === wanted ||
    rest === wanted.slice(1) ||
    (rest.length > 1 && swapped === wanted)
  );
}
