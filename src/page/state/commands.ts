import { COMMANDS, EFFORTS, isCommandName, usageOf } from '../../../protocol/commands.ts';
import type { ProjectCommand } from '../../../protocol/methods/workstream.ts';

/** One way to complete a draft. */
export interface Suggestion {
  /** The draft after it is chosen. */
  draft: string;
  /** The entry in the list: the command and its summary. */
  label: string;
  hint: string;
  /** Where the cursor goes; default: the end. */
  cursor?: number;
}

/** Values to complete arguments from. */
export interface Known {
  models: readonly string[];
  /** Conversations that `/resume` can open. `name` is the argument that finds one. */
  saved: readonly { name: string; title: string }[];
  /** The commands of the project. */
  commands: readonly ProjectCommand[];
}

/** Whether a draft is a command and not a message that begins with a path. */
export const isCommand = (draft: string): boolean => /^\/[a-z][a-z0-9_-]*(\s|$)/.test(draft.trimStart());

/** The commands that a draft may be the beginning of, or the possible arguments of its command. */
export function findSuggestions(draft: string, known: Known): Suggestion[] {
  const [, name = '', space = '', argument = ''] = /^\/(\S*)(?:(\s+)(\S[^\n]*)?)?$/.exec(draft) ?? [];
  if (!draft.startsWith('/') || draft.includes('\n')) return [];
  if (space === '') {
    const offered = [...commandsFrom(name), ...projectCommandsFrom(name, known)];
    // A complete command is offered only next to longer ones. It comes first, so that Enter does not choose another one.
    const longer = offered.filter((one) => !isTyped(one, draft));
    return longer.length === 0 ? [] : [...offered.filter((one) => isTyped(one, draft)), ...longer];
  }
  const words = argument.toLowerCase().split(/\s+/);
  return argumentsOf(name, known)
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .filter((suggestion) => suggestion.draft !== draft);
}

/** Whether a draft is already the command that is offered. */
export const isTyped = (suggestion: Pick<Suggestion, 'draft'>, draft: string): boolean =>
  suggestion.draft.trimEnd() === draft;

/** Whether a draft is about to name a command. */
export const isAboutCommands = (draft: string): boolean => /^\/[^\s/]*$/.test(draft);

/** Whether a draft is about to name a model. */
export const isAboutModels = (draft: string): boolean => /^\/model\s[^\n]*$/.test(draft);

/** The argument of `/resume` so far; undefined if the draft is not a `/resume` command. */
export const resumeSearch = (draft: string): string | undefined => /^\/resume\s([^\n]*)$/.exec(draft)?.[1]?.trimStart();

const commandsFrom = (begun: string): Suggestion[] =>
  Object.keys(COMMANDS)
    .filter(isCommandName)
    .filter((name) => name.startsWith(begun))
    .map((name) => ({
      draft: COMMANDS[name].argument === undefined ? `/${name}` : `/${name} `,
      label: usageOf(name),
      hint: COMMANDS[name].summary,
    }));

const projectCommandsFrom = (begun: string, { commands }: Known): Suggestion[] =>
  commands
    .filter(({ name }) => name.startsWith(begun))
    .map(({ name, argument, summary }) => ({
      draft: argument === undefined ? `/${name}` : `/${name} `,
      label: [`/${name}`, argument].filter(Boolean).join(' '),
      hint: summary,
    }));

function argumentsOf(name: string, { models, saved }: Known): Suggestion[] {
  if (name === 'model') return models.map((alias) => ({ draft: `/model ${alias}`, label: alias, hint: '' }));
  if (name === 'effort') return EFFORTS.map((effort) => ({ draft: `/effort ${effort}`, label: effort, hint: '' }));
  if (name !== 'resume') return [];
  return saved.map((each) => ({ draft: `/resume ${each.name}`, label: each.title, hint: '' }));
}
