import type { BackgroundCommand } from '../../../../protocol/events/background-command.ts';
import { commandName, endWords, spanWords } from '../../../../protocol/text/background-words.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import type { Sheet } from '../../terminal/sheet.ts';
import { wrapWords } from '../../terminal/wrap.ts';

/** Prints a line when a background command starts, and one when it ends. `/background` shows its output. */
export function createBackgroundLines(print: (lines: string[]) => void) {
  const started = new Set<string>();
  return {
    /** A command that ran before the terminal was opened counts as started. New output alone is not told, so that it interrupts no answer. */
    tell(command: BackgroundCommand, sheet: Sheet): void {
      const { command_id: id, state } = command;
      if (state === 'running' && started.has(id)) return;
      if (state === 'running') started.add(id);
      else started.delete(id);
      print(state === 'running' ? toStart(command, sheet) : toEnd(command, sheet));
    },
  };
}

const toStart = ({ command_id: id, command }: BackgroundCommand, { paint, columns }: Sheet): string[] =>
  wrapWords(`${paint('yellow', '◌')} In the background: ${nameOf(command)} ${paint('dim', id)}`, columns);

function toEnd(ended: BackgroundCommand, { paint, columns }: Sheet): string[] {
  const { command, started_ms: startedMs, ended_ms: endedMs = startedMs } = ended;
  const mark = ended.end === 'exited' && ended.exit_code === 0 ? paint('green', '✔') : paint('red', '✖');
  const how = `${endWords(ended)} after ${spanWords(endedMs - startedMs)}`;
  return wrapWords(`${mark} Background command ${nameOf(command)}: ${how}`, columns);
}

const nameOf = (command: string): string => toSafeText(commandName(command));
