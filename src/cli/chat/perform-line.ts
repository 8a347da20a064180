import { runQueueCommand } from './chat-queue.ts';
import { isCommand } from './commands/slash-commands.ts';
import type { TalkCommandDeps } from './commands/talk-command.ts';
import { runTalkCommand } from './commands/talk-commands.ts';
import type { Talk } from './talk.ts';

/** Does what a line of the prompt asks for: a command of the terminal or the daemon, or a message. */
export async function performLine(line: string, deps: TalkCommandDeps & { talk: Talk }): Promise<unknown> {
  const { queue, transcript, send, command } = deps.talk;
  const print = (lines: readonly string[]) => transcript.print(lines);
  const own = runTalkCommand(line, deps) ?? runQueueCommand(line, { queue, send, print });
  return own ?? (isCommand(line) ? command(line) : send(line, { queue: true }));
}
