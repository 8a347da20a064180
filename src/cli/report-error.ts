import { CommanderError } from 'commander';
import { HttpError } from '../../protocol/client/http-error.ts';
import { ConnectionLostError, RequestError } from '../../protocol/client/request-error.ts';
import { joinLines } from '../../protocol/text/trimmed-text.ts';
import { toVisibleText } from '../../protocol/text/visible-text.ts';
import { EXIT } from '../exit-codes.ts';
import { StartError } from '../start-error.ts';

/** The output and exit code of a failed command. */
interface Report {
  /** One line for stderr, or the stack of an internal error. Empty if everything was printed before. */
  text: string;
  exitCode: number;
}

/** The report of an error; `command` is the command that failed, such as `run`, if it is a known one. */
export function toReport(error: unknown, command?: string): Report {
  if (error instanceof CommanderError) return ofCommander(error, command);
  if (error instanceof RequestError)
    return { text: `${toLine(`${error.code}: ${error.message}`)}\n`, exitCode: EXIT.failed };
  if (error instanceof StartError) return { text: told(error.message), exitCode: error.exitCode };
  if (error instanceof HttpError)
    return { text: told(`${error.message} (HTTP ${error.status})`), exitCode: EXIT.failed };
  if (error instanceof ConnectionLostError)
    return { text: told(`${error.message} before the answer came`), exitCode: EXIT.failed };
  const stack = error instanceof Error ? error.stack : String(error);
  return { text: `headgate: ${toVisibleText(stack ?? '')}\n`, exitCode: EXIT.failed };
}

function ofCommander({ code, exitCode, message }: CommanderError, command: string | undefined): Report {
  if (code === 'commander.help') return { text: '', exitCode: EXIT.wrongUsage }; // a group without a subcommand: the help was printed
  if (exitCode === EXIT.ok) return { text: '', exitCode: EXIT.ok };
  const help = `headgate ${command === undefined ? '' : `${command} `}--help`;
  return {
    text: told(`${message.replace(/^error: /, '').replace(/\.$/, '')}. See ${help}.`),
    exitCode: EXIT.wrongUsage,
  };
}

const told = (text: string): string => `headgate: ${toLine(text)}\n`;

/** Errors quote what others wrote, such as the names in an archive, which must not control the terminal. */
const toLine = (text: string): string => toVisibleText(joinLines(text));
