import { runQueueCommand } from './chat-queue.ts';
import { isCommand } from './commands/slash-commands.ts';
import type { TalkCommandDeps } from './commands/talk-command.ts';
import { runTalkCommand } from './commands/talk-commands.ts';
import type { PersonInput } from './person/person-input.ts';
import type { Talk } from './talk.ts';

interface PerformDeps extends TalkCommandDeps {
  talk: Talk;
  person: Pick<PersonInput, 'run' | 'attachMentioned'>;
}

/** Does what a line of the prompt asks for: a command of the terminal, the daemon or the person, or a message. */
export async function performLine(line: string, deps: PerformDeps): Promise<unknown> {
  const { queue, transcript, send, command } = deps.talk;
  const print = (lines: readonly string[]) => transcript.print(lines);
  const own = runTalkCommand(line, deps) ?? runQueueCommand(line, { queue, send, print }) ?? deps.person.run(line);
  if (own !== undefined) return own;
  if (isCommand(line)) return command(line);
  if (line.includes('@')) await deps.person.attachMentioned(line);
  return send(line, { queue: true });
}
