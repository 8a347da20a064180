import type { Effort } from './stream-events.ts';

/** The help text of one slash command. */
interface SlashCommand {
  /** Its argument; in brackets if optional. */
  argument?: string;
  summary: string;
}

const rows = {
  help: { summary: 'List the commands.' },
  clear: { summary: 'Clear the screen and the context; the messages stay stored.' },
  new: { summary: 'Start a new conversation; the current one is saved.' },
  model: { argument: '[ALIAS]', summary: 'List the models, or switch this workstream to one.' },
  effort: { argument: '[low | medium | high]', summary: 'Show or set how much the model reasons.' },
  resume: {
    argument: 'NAME',
    summary: 'Copy a saved conversation into this one (name, id or the beginning of an id).',
  },
  name: { argument: 'NAME', summary: 'Name this workstream.' },
  mode: {
    argument: '[ask | read_only | edits | auto | full]',
    summary: 'Show or set what runs without asking.',
  },
  share: { argument: '[private | everyone]', summary: 'Show or set who sees this workstream.' },
  retry: { argument: '[#N]', summary: 'Answer the last message, or message N, again; also one that failed.' },
  rewind: {
    argument: '[TURNS] [files]',
    summary: 'Take back the last message with its answer, or several; with "files", also what they changed on disk.',
  },
  undo: {
    argument: '[keep | overwrite | PATH]',
    summary:
      'Take back what the last run changed on disk, or one file of the last run that changed it; the word says what happens to files that you changed since.',
  },
  redo: { argument: '[keep | overwrite | PATH]', summary: 'Bring back what /undo took back, or one file of a run.' },
  diff: { argument: '[PATH]', summary: 'Show what the last run changed on disk, or only in one file.' },
  edit: {
    argument: '[#N] MESSAGE',
    summary: 'Take back the last message, or message N, with everything after it, and send this one instead.',
  },
  remove: { argument: '[#N]', summary: 'Remove the last message that failed, or the failed message N.' },
  fork: {
    argument: '[#N] [NAME]',
    summary: 'Copy this conversation, up to the answer to message N, into a new workstream.',
  },
  steer: {
    argument: 'MESSAGE',
    summary: 'Send a message that the model reads before its next step, instead of after its answer.',
  },
  budget: {
    argument: '[TOKENS | $USD | off]',
    summary: 'Show how much of the budgets is used, or set the budget of this workstream.',
  },
  background: {
    argument: '[N | end N]',
    summary: 'List the background commands, show the last output of one, or end one.',
  },
  watches: {
    argument: '[cancel N]',
    summary: 'List the watches of this workstream, or cancel one.',
  },
  tools: {
    argument: '[accept]',
    summary: 'Show the tools of this conversation and what has changed since, or give the model the present ones.',
  },
  template: {
    argument: '[NAME | clear]',
    summary: 'Show the templates, or choose the one that the next conversation here begins with.',
  },
  prompt: {
    argument: '[SERVER NAME [ARGUMENT=VALUE …]]',
    summary: 'List the prompts of tool servers, or send one.',
  },
  mcp: {
    argument: '[refresh [SERVER]]',
    summary: 'List the tool servers with their state, or ask them, or one of them, for their tools again.',
  },
  compact: {
    argument: '[FOCUS]',
    summary: 'Replace earlier messages by a summary for the model; you still see them.',
  },
  workstreams: {
    argument: '[WORDS]',
    summary: 'List the saved conversations, or those with these words in their name or title.',
  },
  history: { argument: '[WORDS]', summary: 'List the last messages, or the last ones with these words.' },
  reason: { argument: '[low | med | high]', summary: 'The same as /effort.' },
  skill: {
    argument: '[NAME | clear]',
    summary: 'Show the skills and templates, or choose the one that this conversation follows.',
  },
} satisfies Record<string, SlashCommand>;

/** A slash command without its slash. */
export type CommandName = keyof typeof rows;

/** The slash commands of a conversation. `workstream.command` runs them; clients suggest them while a person types. */
export const COMMANDS: Record<CommandName, SlashCommand> = rows;

/** The arguments of `/effort`. */
export const EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

/** Whether the word, without its slash, is a command. */
export const isCommandName = (word: string): word is CommandName => Object.hasOwn(COMMANDS, word);

/** The command with its argument: `/name NAME`. */
export const usageOf = (name: CommandName): string => [`/${name}`, COMMANDS[name].argument].filter(Boolean).join(' ');

/** The command that a mistyped word probably means: one that begins with it, or that differs by one typing error. */
export function findNearestCommand(word: string): CommandName | undefined {
  const names = Object.keys(COMMANDS).filter(isCommandName);
  const typed = word.toLowerCase();
  return (
    names.find((name) => typed !== '' && name.startsWith(typed)) ?? names.find((name) => isOneSlipAway(typed, name))
  );
}

/** One letter is added, missing or wrong, or two adjacent letters are swapped. */
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
