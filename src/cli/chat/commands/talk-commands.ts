import { copyAnswer } from './copy.ts';
import { attach, exportTo, importFrom } from './file-commands.ts';
import { listMessages } from './messages.ts';
import { showSummary } from './summary.ts';
import type { TalkCommand, TalkCommandDeps } from './talk-command.ts';

const COMMANDS: Record<string, TalkCommand> = {
  attach,
  export: exportTo,
  import: importFrom,
  messages: listMessages,
  copy: copyAnswer,
  summary: showSummary,
};

/** Runs a command that exists in every chat of the terminal, also over pipes. Undefined for any other line. */
export function runTalkCommand(line: string, deps: TalkCommandDeps): Promise<void> | undefined {
  const { name, argument } = split(line);
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name]?.(argument, deps) : undefined;
}

/** Whether `runTalkCommand` runs a line. */
export const isTalkCommand = (line: string): boolean => Object.hasOwn(COMMANDS, split(line).name);

function split(line: string): { name: string; argument: string } {
  const [, name = '', argument = ''] = /^\/(\S+)(?:\s+(\S[\s\S]*)?)?$/.exec(line) ?? [];
  return { name, argument: argument.trim() };
}
